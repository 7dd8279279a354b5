//! SSH's packets and strings [RFC4251 §5, RFC4253 §6], in the clear and under AES-256-GCM as OpenSSH does it
//! (`aes256-gcm@openssh.com`, RFC 5647 with the length as additional data).

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use std::fmt;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;

/// Why the handshake ended, for people.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        use std::io::ErrorKind::{TimedOut, UnexpectedEof, WouldBlock};
        Failure(match error.kind() {
            TimedOut | WouldBlock => "the other side does not answer in time".into(),
            UnexpectedEof => "the other side closed the connection".into(),
            _ => format!("the connection broke: {error}"),
        })
    }
}

/// A failure with this text.
pub fn fail<T>(text: impl Into<String>) -> Result<T, Failure> {
    Err(Failure(text.into()))
}

/// Appends a string: its length in four bytes, then its bytes.
pub fn put_string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(bytes);
}

/// What of a packet is not yet read.
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Failure> {
        let Some((head, rest)) = self.0.split_at_checked(n) else {
            return fail("the other side sent a packet that ends too early");
        };
        self.0 = rest;
        Ok(head)
    }

    /// The next four bytes as a number.
    pub fn number(&mut self) -> Result<u32, Failure> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().fold(0, |n, &b| n << 8 | u32::from(b)))
    }

    /// The next string.
    pub fn string(&mut self) -> Result<&'a [u8], Failure> {
        let len = self.number()?;
        self.take(len as usize)
    }

    /// The next string as text.
    pub fn text(&mut self) -> Result<String, Failure> {
        Ok(String::from_utf8_lossy(self.string()?).into_owned())
    }
}

/// One direction's key, and the number of its next packet.
pub struct Cipher {
    key: LessSafeKey,
    nonce: [u8; 12],
}

impl Cipher {
    /// From 32 bytes of key and 12 of nonce, or more of which the first count.
    pub fn new(key: &[u8], nonce: &[u8]) -> Result<Cipher, Failure> {
        let made = key.get(..32).and_then(|key| UnboundKey::new(&AES_256_GCM, key).ok());
        match (made, nonce.first_chunk()) {
            (Some(key), Some(&nonce)) => Ok(Cipher { key: LessSafeKey::new(key), nonce }),
            _ => fail("a key is too short"),
        }
    }

    /// Four bytes stay, eight count up.
    fn next(&mut self) -> Nonce {
        let now = self.nonce;
        for byte in self.nonce[4..].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
        Nonce::assume_unique_for_key(now)
    }
}

/// A connection: packets both ways, encrypted once there are keys.
pub struct Connection {
    reader: BufReader<TcpStream>,
    /// For what is sent.
    pub sealing: Option<Cipher>,
    /// For what is received.
    pub opening: Option<Cipher>,
}

/// The longest packet that a peer must take [RFC4253 §6.1].
const LONGEST: usize = 35_000;

impl Connection {
    /// On a stream whose time-outs are set.
    pub fn new(stream: TcpStream) -> Connection {
        Connection { reader: BufReader::new(stream), sealing: None, opening: None }
    }

    /// Sends our line, and reads the other side's, which others may precede [RFC4253 §4.2].
    pub fn greet(&mut self, ours: &str) -> Result<String, Failure> {
        self.reader.get_mut().write_all(format!("{ours}\r\n").as_bytes())?;
        for _ in 0..100 {
            let mut line = Vec::new();
            while line.last() != Some(&b'\n') && line.len() < 1000 {
                let mut byte = [0];
                self.reader.read_exact(&mut byte)?;
                line.push(byte[0]);
            }
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            if line.starts_with("SSH-2.0-") {
                return Ok(line);
            }
            if line.starts_with("SSH-") {
                return fail(format!("the other side speaks another version of SSH: {line}"));
            }
        }
        fail("the other side speaks no SSH")
    }

    /// Sends one packet.
    pub fn send(&mut self, payload: &[u8]) -> Result<(), Failure> {
        // The length counts for the multiple in the clear, and not where it is additional data.
        let (multiple, counted) = if self.sealing.is_some() { (16, 1) } else { (8, 5) };
        let short = multiple - (payload.len() + counted) % multiple;
        let padding = if short < 4 { short + multiple } else { short };
        let length = ((1 + payload.len() + padding) as u32).to_be_bytes();
        let mut body = vec![padding as u8];
        body.extend(payload);
        body.resize(body.len() + padding, 0);
        if let Some(cipher) = &mut self.sealing {
            let nonce = cipher.next();
            let sealed = cipher.key.seal_in_place_append_tag(nonce, Aad::from(length), &mut body);
            sealed.map_err(|_| Failure("a packet cannot be encrypted".into()))?;
        }
        let stream = self.reader.get_mut();
        stream.write_all(&[&length[..], &body].concat())?;
        Ok(())
    }

    /// Receives the next packet that says something.
    pub fn receive(&mut self) -> Result<Vec<u8>, Failure> {
        loop {
            let payload = self.packet()?;
            match payload.first() {
                Some(1) => {
                    let mut fields = Fields(&payload[1..]);
                    let (code, why) = (fields.number()?, fields.text()?);
                    return fail(format!(
                        "the other side ended the connection: {why} (code {code})"
                    ));
                }
                Some(2..=4) => {} // to be ignored, not understood, for debugging
                Some(_) => return Ok(payload),
                None => return fail("the other side sent an empty packet"),
            }
        }
    }

    fn packet(&mut self) -> Result<Vec<u8>, Failure> {
        let mut length = [0; 4];
        self.reader.read_exact(&mut length)?;
        let len = u32::from_be_bytes(length) as usize;
        if !(2..=LONGEST).contains(&len) {
            return fail(format!("the other side sent a packet of {len} bytes"));
        }
        let tag = if self.opening.is_some() { AES_256_GCM.tag_len() } else { 0 };
        let mut body = vec![0; len + tag];
        self.reader.read_exact(&mut body)?;
        if let Some(cipher) = &mut self.opening {
            let nonce = cipher.next();
            let opened = cipher.key.open_in_place(nonce, Aad::from(length), &mut body);
            if opened.is_err() {
                return fail(
                    "an encrypted packet of the other side is not authentic: the keys differ",
                );
            }
            body.truncate(len);
        }
        let padding = usize::from(body[0]);
        if padding + 1 > body.len() {
            return fail("the other side sent a packet with more padding than bytes");
        }
        Ok(body[1..body.len() - padding].to_vec())
    }
}
