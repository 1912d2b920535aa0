import { execFileSync } from 'node:child_process'
import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parseSshPublicKey } from '../../../lib/crypto/ssh-key.ts'
import { sshSignerOf } from './ssh-signature.ts'

const folder = mkdtempSync(join(tmpdir(), 'ssh-signature-'))
afterAll(() => rmSync(folder, { recursive: true }))

const payload = Buffer.from('tree x\n\nsubject \xff\n', 'latin1')

function signer(type: string, bits?: number) {
  const file = join(folder, `${type}-${bits ?? 0}`)
  const size = bits ? ['-b', String(bits)] : []
  execFileSync('ssh-keygen', ['-q', '-t', type, ...size, '-N', '', '-C', '', '-f', file])
  return {
    key: readFileSync(`${file}.pub`, 'utf8').trim(),
    sign: (namespace = 'git', hash = 'sha512') =>
      execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', namespace, '-O', `hashalg=${hash}`, '-f', file], {
        input: payload,
        encoding: 'utf8',
        stdio: 'pipe',
      }),
  }
}

const ed25519 = signer('ed25519')

test.each([
  ['ed25519', ed25519],
  ['rsa', signer('rsa', 2048)],
  ['ecdsa 256', signer('ecdsa', 256)],
  ['ecdsa 384', signer('ecdsa', 384)],
  ['ecdsa 521', signer('ecdsa', 521)],
])('finds who signed with %s', (_name, { key, sign }) => {
  const { sha256 } = parseSshPublicKey(key)!
  // Numbers in elliptic curve signatures are encoded without leading zeros. Among many signatures, some numbers would
  // start with zeros.
  for (let n = 0; n < 8; n++) expect(sshSignerOf(sign(), payload, 'git')?.sha256).toBe(sha256)
  expect(sshSignerOf(sign('git', 'sha256'), payload, 'git')?.sha256).toBe(sha256)
  expect(sshSignerOf(sign(), Buffer.from('another'), 'git')).toBeNull()
  expect(sshSignerOf(sign('file'), payload, 'git')).toBeNull()
})

const uint32 = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value])
const field = (value: string | Buffer) => Buffer.concat([uint32(Buffer.from(value).length), Buffer.from(value)])
const fields = (...values: (string | Buffer)[]) => Buffer.concat(values.map(field))
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest()
const armour = (blob: Buffer) =>
  `-----BEGIN SSH SIGNATURE-----\n${blob.toString('base64').replace(/.{70}/g, '$&\n')}\n-----END SSH SIGNATURE-----\n`
const sshsig = (...parts: (string | Buffer)[]) =>
  armour(Buffer.concat([Buffer.from('SSHSIG'), uint32(1), fields(...parts)]))

/** Signs like a security key: the application, its flags and counter, and the hash of the message. */
function tokenSigned(name: string, point: (string | Buffer)[], made: (message: Buffer) => Buffer) {
  const message = Buffer.concat([Buffer.from('SSHSIG'), fields('git', '', 'sha256', sha256(payload))])
  const counted = Buffer.from([1, 0, 0, 0, 7])
  const value = made(Buffer.concat([sha256('ssh:'), counted, sha256(message)]))
  const key = fields(name, ...point, 'ssh:')
  const withCounter = (bytes: Buffer) => sshsig(key, 'git', '', 'sha256', Buffer.concat([fields(name, value), bytes]))
  return { key: `${name} ${key.toString('base64')}`, good: withCounter(counted), ...other(withCounter) }
}
const other = (withCounter: (bytes: Buffer) => string) => ({
  counterChanged: withCounter(Buffer.from([1, 0, 0, 0, 8])),
  counterMissing: withCounter(Buffer.alloc(0)),
})
const coordinate = (key: KeyObject, name: 'x' | 'y') => Buffer.from(key.export({ format: 'jwk' })[name]!, 'base64url')

test('finds the token that signed', () => {
  const edwards = generateKeyPairSync('ed25519')
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const point = Buffer.concat([Buffer.of(4), coordinate(curve.publicKey, 'x'), coordinate(curve.publicKey, 'y')])
  const numbers = (message: Buffer) => {
    const raw = sign('sha256', message, { key: curve.privateKey, dsaEncoding: 'ieee-p1363' })
    return fields(...[raw.subarray(0, 32), raw.subarray(32)].map((number) => Buffer.concat([Buffer.of(0), number])))
  }
  const tokens = [
    tokenSigned('sk-ssh-ed25519@openssh.com', [coordinate(edwards.publicKey, 'x')], (message) =>
      sign(null, message, edwards.privateKey),
    ),
    tokenSigned('sk-ecdsa-sha2-nistp256@openssh.com', ['nistp256', point], numbers),
  ]
  for (const { key, good, counterChanged, counterMissing } of tokens) {
    expect(sshSignerOf(good, payload, 'git')?.sha256).toBe(parseSshPublicKey(key)!.sha256)
    expect(sshSignerOf(counterChanged, payload, 'git')).toBeNull()
    expect(sshSignerOf(counterMissing, payload, 'git')).toBeNull()
  }
})

test('everything else was signed by nobody', () => {
  const good = ed25519.sign()
  const blob = Buffer.from(good.replace(/-----.*-----/g, ''), 'base64')
  const key = Buffer.from(ed25519.key.split(' ')[1]!, 'base64')
  const value = fields('ssh-ed25519', Buffer.alloc(64))
  const changed = (at: number, byte: number) => armour(Buffer.from(blob).fill(byte, at, at + 1))
  const none = [
    '',
    'garbage',
    good.replace('BEGIN', 'BEGIN OLD'),
    good.replace('\n-----END SSH SIGNATURE-----', ''),
    good.replace('U', '!'),
    `${good}${good}`,
    good.replace('\n', `\n${'A'.repeat(100_000)}`),
    changed(0, 0), // magic
    changed(9, 2), // version
    changed(10, 0xff), // a length beyond the end
    armour(blob.subarray(0, 8)),
    armour(blob.subarray(0, -1)),
    armour(Buffer.concat([blob, Buffer.alloc(4)])),
    sshsig(key, 'git', '', 'sha512', value),
    sshsig(key, 'git', '', 'md5', value),
    sshsig(key, 'git', '', 'sha512', Buffer.alloc(0)),
    sshsig(key, 'git', '', 'sha512', fields('ssh-rsa', Buffer.alloc(64))),
    sshsig(key, 'git', '', 'sha512', fields('constructor', Buffer.alloc(64))),
    sshsig(Buffer.alloc(0), 'git', '', 'sha512', value),
    sshsig(fields('ssh-dss'), 'git', '', 'sha512', value),
  ]
  for (const text of none)
    expect([text.slice(0, 200), sshSignerOf(text, payload, 'git')]).toEqual([text.slice(0, 200), null])
  expect(sshSignerOf(armour(blob), payload, 'git')).not.toBeNull()
  for (let at = 0; at < blob.length; at++) expect(sshSignerOf(changed(at, blob[at]! ^ 1), payload, 'git')).toBeNull()
})
