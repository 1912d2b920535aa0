/**
 * Verifies detached SSH signatures (PROTOCOL.sshsig), as `ssh-keygen -Y sign` writes them. A signature contains its
 * key. Returns the key that signed exactly this content for this purpose, or null. The caller decides whether to trust
 * the key; nothing throws.
 */
import { createHash, createPublicKey, verify, type JsonWebKey, type KeyObject } from 'node:crypto'
import { parseSshPublicKey, splitFields, type SshPublicKey } from '../../../lib/crypto/ssh-key.ts'

const ARMOUR = /^-----BEGIN SSH SIGNATURE-----\n([\w+/=\n]+)\n-----END SSH SIGNATURE-----\s*$/
const MAGIC = Buffer.from('SSHSIG')
const VERSION = 1
const HASHES = ['sha256', 'sha512']
const LONGEST = 32 * 1024

/** Signature algorithm → the key type and hash. SHA-1 and DSA are no longer secure. */
const ALGORITHMS = new Map<string, { readonly of: string; readonly hash: string | null }>([
  ['ssh-ed25519', { of: 'ssh-ed25519', hash: null }],
  ['sk-ssh-ed25519@openssh.com', { of: 'sk-ssh-ed25519@openssh.com', hash: null }],
  ['ecdsa-sha2-nistp256', { of: 'ecdsa-sha2-nistp256', hash: 'sha256' }],
  ['ecdsa-sha2-nistp384', { of: 'ecdsa-sha2-nistp384', hash: 'sha384' }],
  ['ecdsa-sha2-nistp521', { of: 'ecdsa-sha2-nistp521', hash: 'sha512' }],
  ['sk-ecdsa-sha2-nistp256@openssh.com', { of: 'sk-ecdsa-sha2-nistp256@openssh.com', hash: 'sha256' }],
  ['rsa-sha2-256', { of: 'ssh-rsa', hash: 'sha256' }],
  ['rsa-sha2-512', { of: 'ssh-rsa', hash: 'sha512' }],
])

export function sshSignerOf(armored: string, payload: Buffer, namespace: string): SshPublicKey | null {
  const blob = armored.length > LONGEST ? null : unarmour(armored)
  if (!blob?.subarray(0, MAGIC.length).equals(MAGIC) || blob.length < MAGIC.length + 4) return null
  if (blob.readUInt32BE(MAGIC.length) !== VERSION) return null
  const fields = splitFields(blob.subarray(MAGIC.length + 4))
  const [publicKey, purpose, reserved, hash, signature] = fields ?? []
  if (!publicKey || !purpose || !reserved || !hash || !signature || fields!.length > 5) return null
  if (purpose.toString() !== namespace || !HASHES.includes(hash.toString())) return null

  const key = keyFrom(publicKey)
  const digest = createHash(hash.toString()).update(payload).digest()
  const signed = Buffer.concat([MAGIC, ...[purpose, reserved, hash, digest].map(field)])
  return key && isSignedBy(key, signed, signature) ? key : null
}

function unarmour(armored: string): Buffer | null {
  const base64 = ARMOUR.exec(armored.replaceAll('\r', ''))?.[1]?.replaceAll('\n', '')
  const blob = Buffer.from(base64 ?? '', 'base64')
  return blob.toString('base64') === base64 ? blob : null // Buffer skips what it cannot decode
}

function keyFrom(blob: Buffer): SshPublicKey | null {
  const name = splitFields(blob)?.[0]?.toString('latin1')
  return name === undefined ? null : parseSshPublicKey(`${name} ${blob.toString('base64')}`)
}

function field(content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  return Buffer.concat([length, content])
}

/** The flags and the counter of a FIDO token. */
const TOKEN_BYTES = 5

function isSignedBy(key: SshPublicKey, message: Buffer, signature: Buffer): boolean {
  const end = key.securityKey ? Math.max(0, signature.length - TOKEN_BYTES) : signature.length
  const [name, value, ...rest] = splitFields(signature.subarray(0, end)) ?? []
  const algorithm = name && ALGORITHMS.get(name.toString('latin1'))
  if (!algorithm || !value || rest.length > 0 || algorithm.of !== key.algorithm) return false
  const raw = key.type === 'ecdsa' ? bothNumbers(value, Math.ceil(key.bits / 8)) : value
  if (!raw) return false
  const signed = key.securityKey ? tokenMessage(key, message, signature.subarray(end)) : message
  try {
    return verify(algorithm.hash, signed, { key: nodeKey(key), dsaEncoding: 'ieee-p1363' }, raw)
  } catch {
    return false // numbers that OpenSSL refuses
  }
}

/** A token signs the application, its flags and counter, and the hash of the message. */
function tokenMessage({ blob }: SshPublicKey, message: Buffer, counted: Buffer): Buffer {
  const sha256 = (content: Buffer) => createHash('sha256').update(content).digest()
  const application = splitFields(blob)!.at(-1)!
  return Buffer.concat([sha256(application), counted, sha256(message)])
}

/** The two numbers of an elliptic curve signature, each in its full width. */
function bothNumbers(value: Buffer, width: number): Buffer | null {
  const numbers = splitFields(value)?.map((number) => (number[0] === 0 ? number.subarray(1) : number)) ?? []
  if (numbers.length !== 2 || numbers.some(({ length }) => length > width)) return null
  return Buffer.concat(numbers.flatMap((number) => [Buffer.alloc(width - number.length), number]))
}

function nodeKey({ type, bits, blob }: SshPublicKey): KeyObject {
  const [, first, second] = splitFields(blob)!.map((one) => one.toString('base64url'))
  if (type === 'rsa') return fromJwk({ kty: 'RSA', e: first!, n: second! })
  if (type === 'ed25519') return fromJwk({ kty: 'OKP', crv: 'Ed25519', x: first! })
  const point = Buffer.from(second!, 'base64url').subarray(1)
  const [x, y] = [point.subarray(0, point.length / 2), point.subarray(point.length / 2)]
  return fromJwk({ kty: 'EC', crv: `P-${bits}`, x: x.toString('base64url'), y: y.toString('base64url') })
}

const fromJwk = (key: JsonWebKey): KeyObject => createPublicKey({ key, format: 'jwk' })
