/**
 * Parses OpenSSH public keys from the one-line text that users paste. A key is returned only if all of it is valid:
 * every length, number and curve point is checked, so a stored key can be trusted, compared and printed. Anything else,
 * including private keys, certificates and authorized_keys options, is null; nothing throws.
 */
import { createHash, createPublicKey } from 'node:crypto'

export interface SshPublicKey {
  /** The protocol name, such as `ssh-ed25519`. */
  algorithm: string
  type: 'rsa' | 'dsa' | 'ecdsa' | 'ed25519'
  /** On a FIDO token (`sk-` algorithms). */
  securityKey: boolean
  bits: number
  comment: string
  /** One line: algorithm, base64 and the comment, if any. */
  text: string
  /** Lower-case hex with colons. */
  md5: string
  /** `SHA256:` and unpadded base64, as ssh-keygen prints it. */
  sha256: string
  blob: Buffer
}

interface Algorithm {
  type: SshPublicKey['type']
  /** The size of the key in the fields after the name; null if they are not a valid key. */
  bits(fields: Buffer[]): number | null
}

const maxText = 16_384
const minModulusBits = 768
const maxModulusBits = 16_384

const algorithms = new Map<string, Algorithm>([
  ['ssh-rsa', { type: 'rsa', bits: rsaBits }],
  ['ssh-dss', { type: 'dsa', bits: dsaBits }],
  ['ecdsa-sha2-nistp256', { type: 'ecdsa', bits: ecdsaBits('nistp256', 'P-256', 256) }],
  ['ecdsa-sha2-nistp384', { type: 'ecdsa', bits: ecdsaBits('nistp384', 'P-384', 384) }],
  ['ecdsa-sha2-nistp521', { type: 'ecdsa', bits: ecdsaBits('nistp521', 'P-521', 521) }],
  ['ssh-ed25519', { type: 'ed25519', bits: ed25519Bits }],
  ['sk-ecdsa-sha2-nistp256@openssh.com', { type: 'ecdsa', bits: onToken(ecdsaBits('nistp256', 'P-256', 256)) }],
  ['sk-ssh-ed25519@openssh.com', { type: 'ed25519', bits: onToken(ed25519Bits) }],
])

export function parseSshPublicKey(text: string): SshPublicKey | null {
  if (text.length > maxText) return null
  const line = text.replace(/[\r\n]/g, '').trim()
  const [, name = '', base64 = '', comment = ''] = /^(\S+)[ \t]+([\w+/=]+)(?:[ \t]+(.*))?$/.exec(line) ?? []
  const algorithm = algorithms.get(name)
  if (!algorithm || /\p{Cc}/u.test(comment)) return null

  const blob = Buffer.from(base64, 'base64')
  if (blob.toString('base64') !== base64) return null // Buffer skips what it cannot decode

  const [inner, ...fields] = splitFields(blob) ?? []
  if (inner?.toString('latin1') !== name) return null
  const bits = algorithm.bits(fields)
  if (bits === null) return null

  return {
    algorithm: name,
    type: algorithm.type,
    securityKey: name.startsWith('sk-'),
    bits,
    comment,
    text: comment ? `${name} ${base64} ${comment}` : `${name} ${base64}`,
    md5: createHash('md5').update(blob).digest('hex').replace(/..\B/g, '$&:'),
    sha256: `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`,
    blob,
  }
}

/** Every public key is a sequence of strings, each after its length in four bytes. */
export function splitFields(blob: Buffer): Buffer[] | null {
  const fields: Buffer[] = []
  for (let at = 0; at < blob.length;) {
    if (at + 4 > blob.length) return null
    const start = at + 4
    at = start + blob.readUInt32BE(at)
    if (at > blob.length) return null
    fields.push(blob.subarray(start, at))
  }
  return fields
}

function rsaBits(fields: Buffer[]): number | null {
  const [e, n] = positiveIntegers(fields, 2)
  if (!e || !n || e === 1n || !isOdd(e) || !isOdd(n) || e >= n) return null
  return modulusBits(n)
}

function dsaBits(fields: Buffer[]): number | null {
  const [p, q, g, y] = positiveIntegers(fields, 4)
  if (!p || !q || !g || !y || !isOdd(p) || !isOdd(q)) return null
  if (bitLength(q) !== 160) return null // an ssh-dss signature allows no other size
  if (g === 1n || g >= p || y === 1n || y >= p) return null
  return modulusBits(p)
}

function ecdsaBits(curve: string, crv: string, bits: number): Algorithm['bits'] {
  const width = Math.ceil(bits / 8)
  return ([name, point, ...rest]) => {
    if (name?.toString('latin1') !== curve || !point || rest.length > 0) return null
    if (point.length !== 1 + 2 * width || point[0] !== 4) return null // 4: both coordinates are given
    const x = point.toString('base64url', 1, 1 + width)
    const y = point.toString('base64url', 1 + width)
    try {
      createPublicKey({ key: { kty: 'EC', crv, x, y }, format: 'jwk' }) // rejects a point that is not on the curve
      return bits
    } catch {
      return null
    }
  }
}

function ed25519Bits([point, ...rest]: Buffer[]): number | null {
  return point?.length === 32 && rest.length === 0 ? 256 : null
}

/** A key on a token is the plain key followed by the name of its application. */
function onToken(bits: Algorithm['bits']): Algorithm['bits'] {
  return (fields) => (fields.at(-1)?.length ? bits(fields.slice(0, -1)) : null)
}

/** Exactly `count` positive integers in their shortest form, or an empty list. */
function positiveIntegers(fields: Buffer[], count: number): bigint[] {
  const integers = fields.map(positiveInteger).filter((integer) => integer !== null)
  return fields.length === count && integers.length === count ? integers : []
}

function positiveInteger(field: Buffer): bigint | null {
  const [first, second = 0] = field
  if (first === undefined || first >= 0x80) return null // zero is empty; a set high bit is the sign
  if (first === 0 && second < 0x80) return null // a zero byte may only keep the high bit from being the sign
  return BigInt(`0x${field.toString('hex')}`)
}

function modulusBits(modulus: bigint): number | null {
  const bits = bitLength(modulus)
  return bits >= minModulusBits && bits <= maxModulusBits ? bits : null
}

function bitLength(integer: bigint): number {
  return integer.toString(2).length
}

function isOdd(integer: bigint): boolean {
  return (integer & 1n) === 1n
}
