import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parseSshPublicKey } from './ssh-key.ts'

const folder = mkdtempSync(join(tmpdir(), 'ssh-key-'))
afterAll(() => rmSync(folder, { recursive: true }))

function generate(type: string, bits?: number) {
  const file = join(folder, `${type}-${bits ?? 0}-${Math.random()}`)
  const size = bits ? ['-b', String(bits)] : []
  execFileSync('ssh-keygen', ['-q', '-t', type, ...size, '-N', '', '-C', 'ann@example.com laptop', '-f', file])
  const print = (hash: string) => execFileSync('ssh-keygen', ['-lf', `${file}.pub`, '-E', hash], { encoding: 'utf8' })
  return {
    text: readFileSync(`${file}.pub`, 'utf8'),
    privateText: readFileSync(file, 'utf8'),
    md5: print('md5').split(' ')[1]!.replace('MD5:', ''),
    sha256: print('sha256').split(' ')[1]!,
  }
}

// Newer releases of OpenSSH cannot create DSA keys.
function canGenerateDsa() {
  try {
    return Boolean(generate('dsa'))
  } catch {
    return false
  }
}

const ed25519 = generate('ed25519')
const rsa = generate('rsa', 1024)
const ecdsa = generate('ecdsa', 256)

const uint32 = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])
const field = (value: string | Buffer) => Buffer.concat([uint32(Buffer.from(value).length), Buffer.from(value)])
const keyText = (name: string, ...fields: (string | Buffer)[]) =>
  `${name} ${Buffer.concat([name, ...fields].map(field)).toString('base64')}`

const blobOf = (text: string) => Buffer.from(text.split(' ')[1]!, 'base64')

/** The strings of a valid key, without the name. */
function fieldsOf(text: string): Buffer[] {
  const blob = blobOf(text)
  const fields: Buffer[] = []
  for (let at = 0; at < blob.length; at += 4 + blob.readUInt32BE(at)) {
    fields.push(blob.subarray(at + 4, at + 4 + blob.readUInt32BE(at)))
  }
  return fields.slice(1)
}

test.each([
  ['rsa', 2048, 'ssh-rsa'],
  ['rsa', 3072, 'ssh-rsa'],
  ['ecdsa', 256, 'ecdsa-sha2-nistp256'],
  ['ecdsa', 384, 'ecdsa-sha2-nistp384'],
  ['ecdsa', 521, 'ecdsa-sha2-nistp521'],
  ['ed25519', 256, 'ssh-ed25519'],
] as const)(
  'reads %s of %i bits with the fingerprints ssh-keygen prints',
  (type, bits, algorithm) => {
    const { text, md5, sha256 } = generate(type, bits)
    expect(parseSshPublicKey(text)).toEqual({
      algorithm,
      type,
      securityKey: false,
      bits,
      comment: 'ann@example.com laptop',
      text: text.trim(),
      md5,
      sha256,
      blob: blobOf(text),
    })
  },
  30_000,
)

test.runIf(canGenerateDsa())('reads a DSA key, whose order must be of 160 bits', () => {
  const { text, md5, sha256 } = generate('dsa')
  expect(parseSshPublicKey(text)).toMatchObject({ algorithm: 'ssh-dss', type: 'dsa', bits: 1024, md5, sha256 })

  const [p, q, g, y] = fieldsOf(text) as [Buffer, Buffer, Buffer, Buffer]
  expect(parseSshPublicKey(keyText('ssh-dss', p, q, g, y))).not.toBeNull()
  expect(parseSshPublicKey(keyText('ssh-dss', p, p, g, y))).toBeNull()
  expect(parseSshPublicKey(keyText('ssh-dss', p, q, p, y))).toBeNull()
  expect(parseSshPublicKey(keyText('ssh-dss', p, q, g, Buffer.from([1])))).toBeNull()
})

test('reads keys held by a token', () => {
  const [point] = fieldsOf(ed25519.text) as [Buffer]
  expect(parseSshPublicKey(`${keyText('sk-ssh-ed25519@openssh.com', point, 'ssh:')} token`)).toMatchObject({
    algorithm: 'sk-ssh-ed25519@openssh.com',
    type: 'ed25519',
    securityKey: true,
    bits: 256,
    comment: 'token',
  })
  expect(parseSshPublicKey(keyText('sk-ssh-ed25519@openssh.com', point))).toBeNull()
  expect(parseSshPublicKey(keyText('sk-ssh-ed25519@openssh.com', point, 'ssh:', 'more'))).toBeNull()

  const [curve, coordinates] = fieldsOf(ecdsa.text) as [Buffer, Buffer]
  expect(parseSshPublicKey(keyText('sk-ecdsa-sha2-nistp256@openssh.com', curve, coordinates, 'ssh:'))).toMatchObject({
    type: 'ecdsa',
    securityKey: true,
    bits: 256,
    comment: '',
  })
})

test('reads a key whose lines were wrapped, and trims around it', () => {
  const wrapped = rsa.text.replace(/(.{60})/g, '$1\r\n')
  expect(parseSshPublicKey(`\n  ${wrapped}\t\n`)).toEqual(parseSshPublicKey(rsa.text))
})

test('writes a key without comment as two words', () => {
  const bare = ed25519.text.split(' ').slice(0, 2)
  expect(parseSshPublicKey(`${bare.join('  \t ')}  `)).toMatchObject({ text: bare.join(' '), comment: '' })
})

const [e, n] = fieldsOf(rsa.text) as [Buffer, Buffer]
const [curve, point] = fieldsOf(ecdsa.text) as [Buffer, Buffer]
const offCurve = Buffer.from(point)
offCurve[64]! ^= 1
const modulus = (bytes: number) => Buffer.concat([Buffer.from([0]), Buffer.alloc(bytes, 0xff)])
const padded = (bytes: Buffer) => Buffer.concat([Buffer.from([0]), bytes])

const renamed = keyText('ssh-foo', Buffer.alloc(32, 1)).replace('ssh-foo', 'ssh-ed25519')

test('the keys the refusals are bent from are sound', () => {
  expect(parseSshPublicKey(keyText('ssh-rsa', e, n))).toMatchObject({ bits: 1024 })
  expect(parseSshPublicKey(keyText('ssh-rsa', e, modulus(96)))).toMatchObject({ bits: 768 })
  expect(parseSshPublicKey(keyText('ssh-rsa', e, modulus(2048)))).toMatchObject({ bits: 16_384 })
  expect(parseSshPublicKey(keyText('ecdsa-sha2-nistp256', curve, point))).toMatchObject({ bits: 256 })
})

test.each([
  ['nothing', ''],
  ['garbage', 'ssh-rsa'],
  ['an unknown algorithm', keyText('ssh-foo', 'x')],
  ['an inherited property name', keyText('constructor', 'x')],
  ['options in front', `no-pty ${ed25519.text}`],
  ['a private key', ed25519.privateText],
  ['base64 alone', ed25519.text.split(' ')[1]!],
  ['a wrong alphabet', ed25519.text.replace('AAAA', 'AA_A')],
  ['missing padding', keyText('ssh-rsa', e, modulus(96)).replace(/=+$/, '')],
  ['a control character in the comment', `${ed25519.text.trim()}\0`],
  ['an endless comment', `${ed25519.text.trim()}${'x'.repeat(20_000)}`],
  ['a certificate', keyText('ssh-ed25519-cert-v01@openssh.com', 'nonce', 'key')],
  ['another algorithm inside', ed25519.text.replace('ssh-ed25519', 'ssh-rsa')],
  ['another algorithm inside, of the same shape', renamed],
  ['a byte behind the end', `ssh-ed25519 ${Buffer.concat([blobOf(ed25519.text), Buffer.alloc(1)]).toString('base64')}`],
  ['an ed25519 point of 31 bytes', keyText('ssh-ed25519', Buffer.alloc(31, 1))],
  ['a string too many', keyText('ssh-ed25519', Buffer.alloc(32, 1), '')],
  ['an RSA string too many', keyText('ssh-rsa', e, n, n)],
  ['an empty RSA string too many', keyText('ssh-rsa', e, n, '')],
  ['an RSA string too few', keyText('ssh-rsa', e)],
  ['an even exponent', keyText('ssh-rsa', Buffer.from([4]), n)],
  ['the exponent one', keyText('ssh-rsa', Buffer.from([1]), n)],
  ['the exponent zero', keyText('ssh-rsa', '', n)],
  ['a padded exponent', keyText('ssh-rsa', padded(e), n)],
  ['a padded modulus', keyText('ssh-rsa', e, padded(n))],
  ['a negative modulus', keyText('ssh-rsa', e, n.subarray(1))],
  ['a modulus of 760 bits', keyText('ssh-rsa', e, modulus(95))],
  ['a modulus of 16392 bits', keyText('ssh-rsa', e, modulus(2049))],
  ['another curve', keyText('ecdsa-sha2-nistp384', curve, point)],
  ['a curve of another name', keyText('ecdsa-sha2-nistp256', 'nistp384', point)],
  ['a point off the curve', keyText('ecdsa-sha2-nistp256', curve, offCurve)],
  ['a compressed point', keyText('ecdsa-sha2-nistp256', curve, Buffer.from([2, ...point.subarray(1, 33)]))],
  [
    'a padded point',
    keyText('ecdsa-sha2-nistp256', curve, Buffer.from([...point.subarray(0, 33), 0, ...point.subarray(33)])),
  ],
  ['a point of an unknown form', keyText('ecdsa-sha2-nistp256', curve, Buffer.from([5, ...point.subarray(1)]))],
  ['an ECDSA string too many', keyText('ecdsa-sha2-nistp256', curve, point, 'more')],
  ['a point of zeros', keyText('ecdsa-sha2-nistp256', curve, Buffer.from([4, ...Buffer.alloc(64)]))],
])('refuses %s', (_what, text) => {
  expect(parseSshPublicKey(text)).toBeNull()
})

test.each([
  ['rsa', rsa.text],
  ['ecdsa', ecdsa.text],
  ['ed25519', ed25519.text],
])('survives any cut or flipped byte of %s', (_type, text) => {
  const [name] = text.split(' ')
  const blob = blobOf(text)
  for (let at = 0; at < blob.length; at++) {
    expect(parseSshPublicKey(`${name} ${blob.subarray(0, at).toString('base64')}`)).toBeNull()
    for (const mask of [0x01, 0x80, 0xff]) {
      const bent = Buffer.from(blob)
      bent[at]! ^= mask
      const key = parseSshPublicKey(`${name} ${bent.toString('base64')}`)
      expect(key?.blob ?? bent).toEqual(bent)
    }
  }
  for (let at = 1; at < text.length; at++) expect(parseSshPublicKey(text.slice(at))).toBeNull()
})
