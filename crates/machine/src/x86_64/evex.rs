//! The list of EVEX forms: by mnemonic, and how many bytes one bit of a mask covers.
//!
//! Decoding accepts what is on the list, masking finds its lanes there, and the tests walk it. They
//! compare each form with the processor: without a mask, merging, zeroing and with broadcasts. All
//! else is refused by name: compress, expand, gather and scatter, whose places depend on data; all
//! that rounds; and all that suppresses exceptions.

use iced_x86::{EncodingKind, Instruction, Mnemonic, OpKind, Register, RoundingControl};
use std::sync::LazyLock;

/// Mnemonics by the bytes of a lane; 0: no mask is accepted.
const LIST: [(u8, &str); 5] = [
    (
        0,
        "vmovd vmovq vmovss vmovsd vmovlps vmovlpd vmovhps vmovhpd vmovhlps vmovlhps vmovntdq vmovntdqa vmovntps \
         vmovntpd vpinsrb vpinsrw vpinsrd vpinsrq vpextrb vpextrw vpextrd vpextrq vextractps vinsertps vpslldq \
         vpsrldq vpsadbw vpmovb2m vpmovw2m vpmovd2m vpmovq2m vpmovm2b vpmovm2w vpmovm2d vpmovm2q vpbroadcastmb2q \
         vpbroadcastmw2d",
    ),
    (
        1,
        "vmovdqu8 vpaddb vpsubb vpaddsb vpaddusb vpsubsb vpsubusb vpavgb vpabsb vpminsb vpminub vpmaxsb vpmaxub \
         vpcmpeqb vpcmpgtb vpcmpb vpcmpub vptestmb vptestnmb vpblendmb vpbroadcastb vpshufb vpalignr vpunpcklbw \
         vpunpckhbw vpacksswb vpackuswb vpermb vpermi2b vpermt2b vpmultishiftqb vpopcntb vgf2p8affineqb vgf2p8mulb \
         vpmovwb vpmovswb vpmovuswb vpmovdb vpmovsdb vpmovusdb vpmovqb vpmovsqb vpmovusqb",
    ),
    (
        2,
        "vmovdqu16 vpaddw vpsubw vpaddsw vpaddusw vpsubsw vpsubusw vpavgw vpabsw vpminsw vpminuw vpmaxsw vpmaxuw \
         vpmullw vpmulhw vpmulhuw vpmulhrsw vpmaddubsw vpcmpeqw vpcmpgtw vpcmpw vpcmpuw vptestmw vptestnmw \
         vpblendmw vpbroadcastw vpshuflw vpshufhw vpunpcklwd vpunpckhwd vpackssdw vpackusdw vpermw vpermi2w \
         vpermt2w vpopcntw vpsllw vpsrlw vpsraw vpsllvw vpsrlvw vpsravw vpshldw vpshrdw vpshldvw vpshrdvw \
         vpmovsxbw vpmovzxbw vpmovdw vpmovsdw vpmovusdw vpmovqw vpmovsqw vpmovusqw",
    ),
    (
        4,
        "vmovdqa32 vmovdqu32 vmovaps vmovups vmovsldup vmovshdup vpaddd vpsubd vpabsd vpminsd vpminud vpmaxsd \
         vpmaxud vpmulld vpmaddwd vpdpwssd vpdpwssds vpdpbusd vpdpbusds vpandd vpandnd vpord vpxord vandps vandnps \
         vorps vxorps vpternlogd vpcmpeqd vpcmpgtd vpcmpd vpcmpud vptestmd vptestnmd vpblendmd vblendmps \
         vpbroadcastd vbroadcastss vbroadcasti32x2 vbroadcasti32x4 vbroadcasti32x8 vbroadcastf32x2 vbroadcastf32x4 \
         vbroadcastf32x8 vpshufd vshufps vpermilps vpunpckldq vpunpckhdq vunpcklps vunpckhps vpermd vpermps \
         vpermi2d vpermt2d vpermi2ps vpermt2ps valignd vshufi32x4 vshuff32x4 vinserti32x4 vinserti32x8 vinsertf32x4 \
         vinsertf32x8 vextracti32x4 vextracti32x8 vextractf32x4 vextractf32x8 vpopcntd vplzcntd vpconflictd vpslld \
         vpsrld vpsrad vpsllvd vpsrlvd vpsravd vprold vprord vprolvd vprorvd vpshldd vpshrdd vpshldvd vpshrdvd \
         vpmovsxbd vpmovzxbd vpmovsxwd vpmovzxwd vpmovqd vpmovsqd vpmovusqd",
    ),
    (
        8,
        "vmovdqa64 vmovdqu64 vmovapd vmovupd vmovddup vpaddq vpsubq vpabsq vpminsq vpminuq vpmaxsq vpmaxuq vpmullq \
         vpmuldq vpmuludq vpmadd52luq vpmadd52huq vpandq vpandnq vporq vpxorq vandpd vandnpd vorpd vxorpd \
         vpternlogq vpcmpeqq vpcmpgtq vpcmpq vpcmpuq vptestmq vptestnmq vpblendmq vblendmpd vpbroadcastq \
         vbroadcastsd vbroadcasti64x2 vbroadcasti64x4 vbroadcastf64x2 vbroadcastf64x4 vshufpd vpermilpd vpunpcklqdq \
         vpunpckhqdq vunpcklpd vunpckhpd vpermq vpermpd vpermi2q vpermt2q vpermi2pd vpermt2pd valignq vshufi64x2 \
         vshuff64x2 vinserti64x2 vinserti64x4 vinsertf64x2 vinsertf64x4 vextracti64x2 vextracti64x4 vextractf64x2 \
         vextractf64x4 vpopcntq vplzcntq vpconflictq vpsllq vpsrlq vpsraq vpsllvq vpsrlvq vpsravq vprolq vprorq \
         vprolvq vprorvq vpshldq vpshrdq vpshldvq vpshrdvq vpmovsxbq vpmovzxbq vpmovsxwq vpmovzxwq vpmovsxdq \
         vpmovzxdq",
    ),
];

/// What stands in [`ROWS`] for mnemonics that are not on the list.
const ABSENT: u8 = u8::MAX;

/// The list by mnemonic.
static ROWS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let row = |m: Mnemonic| {
        let name = format!("{m:?}").to_ascii_lowercase();
        let of = |(_, names): &&(u8, &str)| names.split(' ').any(|n| n == name);
        LIST.iter().find(of).map_or(ABSENT, |(lane, _)| *lane)
    };
    Mnemonic::values().map(row).collect()
});

/// Bytes of the lanes that a mask chooses among; 0 if the form takes none, [`None`] if it is not on the list.
fn row(ins: &Instruction) -> Option<usize> {
    let lane = ROWS[ins.mnemonic() as usize];
    (lane != ABSENT).then_some(lane.into())
}

/// Bytes of the lanes that the instruction's mask chooses among, or [`None`] if it has no mask.
pub(super) fn masked(ins: &Instruction) -> Option<usize> {
    if ins.op_mask() == Register::None { None } else { row(ins) }
}

/// Why an instruction in EVEX encoding is refused, if it is.
pub(super) fn refusal(ins: &Instruction) -> Option<&'static str> {
    if ins.code().encoding() != EncodingKind::EVEX {
        return Some("this encoding is not modelled");
    }
    let Some(lane) = row(ins) else {
        return Some(
            "this form is not on the list of EVEX; without AVX-512 (for example by -mavx2 or -march=x86-64-v3) \
             compilers do not take it",
        );
    };
    let masked = ins.op_mask() != Register::None;
    if masked && lane == 0 {
        return Some("this form of EVEX is not modelled under a mask");
    }
    // What masks to zero is a vector register, under a mask.
    if ins.zeroing_masking() && !(masked && ins.op_register(0).is_vector_register()) {
        return Some("EVEX: zeros under a mask of something else than a vector register");
    }
    if ins.suppress_all_exceptions() || ins.rounding_control() != RoundingControl::None {
        return Some("EVEX: roundings in the instruction are not modelled");
    }
    let memory = (0..ins.op_count()).any(|i| ins.op_kind(i) == OpKind::Memory);
    (ins.is_broadcast() && !memory).then_some("EVEX: a broadcast of no memory")
}

#[cfg(test)]
mod tests {
    use super::{LIST, ROWS};

    #[test]
    fn every_name_on_the_list_is_a_mnemonic_once() {
        let names: Vec<&str> = LIST.iter().flat_map(|(_, names)| names.split(' ')).collect();
        let found = ROWS.iter().filter(|&&lane| lane != super::ABSENT).count();
        assert_eq!(names.len(), found);
    }
}
