//! The KEMs, one line each. In order, a line gives:
//!
//! * the module, the feature and the title;
//! * the bytes of public key, secret key and ciphertext;
//! * the coins of a key pair and of a ciphertext;
//! * the words of a prepared public key (build.rs has them compared with C);
//! * whether there are batches, or decapsulation with the seed;
//! * the marker type of the traits, where the secret key contains the public one, and the sizes as
//!   types.
//!
//! Only sizes that `hybrid-array` knows can have the traits of `kem`: those of Streamlined NTRU
//! Prime and ML-KEM.

kem!(sntrup653, "sntrup653", "Streamlined NTRU Prime 653", 994, 1518, 897, 5388, 2612; prepared 168 [batch], traits Sntrup653 328 U994 U1518 U897);
kem!(sntrup761, "sntrup761", "Streamlined NTRU Prime 761", 1158, 1763, 1039, 6279, 3044; prepared 195 [batch], traits Sntrup761 382 U1158 U1763 U1039);
kem!(sntrup857, "sntrup857", "Streamlined NTRU Prime 857", 1322, 1999, 1184, 7071, 3428; prepared 219 [batch], traits Sntrup857 430 U1322 U1999 U1184);
kem!(sntrup953, "sntrup953", "Streamlined NTRU Prime 953", 1505, 2254, 1349, 7863, 3812; prepared 243 [batch], traits Sntrup953 478 U1505 U2254 U1349);
kem!(sntrup1013, "sntrup1013", "Streamlined NTRU Prime 1013", 1623, 2417, 1455, 8358, 4052; prepared 258 [batch], traits Sntrup1013 508 U1623 U2417 U1455);
kem!(sntrup1277, "sntrup1277", "Streamlined NTRU Prime 1277", 2067, 3059, 1847, 10536, 5108; prepared 324 [batch], traits Sntrup1277 640 U2067 U3059 U1847);
kem!(ntrulpr653, "ntrulpr653", "NTRU LPRime 653", 897, 1125, 1025, 2676, 32; prepared 331 [batch]);
kem!(ntrulpr761, "ntrulpr761", "NTRU LPRime 761", 1039, 1294, 1167, 3108, 32; prepared 385 [batch]);
kem!(ntrulpr857, "ntrulpr857", "NTRU LPRime 857", 1184, 1463, 1312, 3492, 32; prepared 433 [batch]);
kem!(ntrulpr953, "ntrulpr953", "NTRU LPRime 953", 1349, 1652, 1477, 3876, 32; prepared 481 [batch]);
kem!(ntrulpr1013, "ntrulpr1013", "NTRU LPRime 1013", 1455, 1773, 1583, 4116, 32; prepared 511 [batch]);
kem!(ntrulpr1277, "ntrulpr1277", "NTRU LPRime 1277", 1847, 2231, 1975, 5172, 32; prepared 643 [batch]);
kem!(mlkem512, "mlkem512", "ML-KEM-512", 800, 1632, 768, 64, 32; prepared 388 [seed], traits MlKem512 768 U800 U1632 U768);
kem!(mlkem768, "mlkem768", "ML-KEM-768", 1184, 2400, 1088, 64, 32; prepared 772 [seed], traits MlKem768 1152 U1184 U2400 U1088);
kem!(mlkem1024, "mlkem1024", "ML-KEM-1024", 1568, 3168, 1568, 64, 32; prepared 1284 [seed], traits MlKem1024 1536 U1568 U3168 U1568);
kem!(ntruhps2048509, "ntruhps2048509", "NTRU-HPS-2048-509", 699, 935, 699, 2445, 2413;);
kem!(ntruhps2048677, "ntruhps2048677", "NTRU-HPS-2048-677", 930, 1234, 930, 3243, 3211;);
kem!(ntruhps4096821, "ntruhps4096821", "NTRU-HPS-4096-821", 1230, 1590, 1230, 3927, 3895;);
kem!(ntruhps40961229, "ntruhps40961229", "NTRU-HPS-4096-1229", 1842, 2366, 1842, 5865, 5833;);
kem!(ntruhrss701, "ntruhrss701", "NTRU-HRSS-701", 1138, 1450, 1138, 1432, 1400;);
kem!(ntruhrss1373, "ntruhrss1373", "NTRU-HRSS-1373", 2401, 2983, 2401, 2776, 2744;);
