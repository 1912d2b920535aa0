import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as openpgp from 'openpgp'
import { afterAll, expect, test } from 'vitest'
import { looksLikePgpBlock, parsePgpPublicKey } from './pgp-key.ts'

const home = mkdtempSync(join(tmpdir(), 'pgp-'))
afterAll(() => {
  execFileSync('gpgconf', ['--homedir', home, '--kill', 'all'])
  rmSync(home, { recursive: true, force: true })
})

const gpg = (...args: string[]) =>
  execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', '--passphrase', '', ...args], {
    maxBuffer: 1 << 24,
    stdio: ['ignore', 'pipe', 'ignore'],
  })

/** What gpg reports about a key; the first line of each kind belongs to the primary key. */
function listing(email: string) {
  const lines = gpg('--with-colons', '--list-keys', email).toString().trimEnd().split('\n')
  const records = lines.map((line) => line.split(':'))
  const column = (kind: string, index: number) =>
    records.filter((record) => record[0] === kind).map((record) => record[index - 1]!)
  const [fingerprint, ...subFingerprints] = column('fpr', 10) as [string, ...string[]]
  const expiry = Number(column('pub', 7)[0])
  return {
    fingerprint,
    keyId: column('pub', 5)[0],
    userIds: column('uid', 10),
    subkeys: column('sub', 5).map((keyId, index) => ({ fingerprint: subFingerprints[index], keyId })),
    expiresAt: expiry ? new Date(expiry * 1000) : null,
  }
}

function generate(email: string, algorithm: string, expiry: string) {
  gpg('--quick-generate-key', `${email} person <${email}>`, algorithm, 'sign', expiry)
  return listing(email).fingerprint
}

const block = (bytes: Uint8Array, kind = 'PUBLIC KEY') =>
  `-----BEGIN PGP ${kind} BLOCK-----\n\n${Buffer.from(bytes).toString('base64').replace(/.{64}/g, '$&\n')}\n-----END PGP ${kind} BLOCK-----`

/** gpg lists the user IDs in another order than it exports them. */
const sameMembers = (expected: string[]) => (actual: string[]) => `${actual.toSorted()}` === `${expected.toSorted()}`

const annFingerprint = generate('Ann@example.com', 'ed25519', 'never')
gpg('--quick-add-uid', annFingerprint, 'Ann at work (office) <ann@work.example>')
gpg('--quick-add-uid', annFingerprint, 'ann, without address')
gpg('--quick-add-uid', annFingerprint, 'Ann of old <old@example.com>')
gpg('--quick-revoke-uid', annFingerprint, 'Ann of old <old@example.com>')
gpg('--quick-add-key', annFingerprint, 'cv25519', 'encr', 'never')
gpg('--quick-add-key', annFingerprint, 'ed25519', 'sign', '1y')
const ann = gpg('--armor', '--export', annFingerprint).toString()
const annBytes = gpg('--export', annFingerprint)

test('reads a key of Curve 25519 as gpg does, with the emails that are certified and not revoked', async () => {
  const { userIds, ...rest } = listing('Ann@example.com')
  expect(userIds).toHaveLength(4)
  expect(await parsePgpPublicKey(`\n ${ann.replaceAll('\n', '\r\n')}`)).toEqual({
    ...rest,
    userIds: expect.toSatisfy(sameMembers(userIds)),
    emails: expect.toSatisfy(sameMembers(['ann@example.com', 'ann@work.example'])),
    armored: ann.trim(),
  })
})

test('reads an RSA key with its expiry and subkeys', async () => {
  const fingerprint = generate('bob@example.com', 'rsa2048', '2y')
  gpg('--quick-add-key', fingerprint, 'rsa2048', 'encr', '1y')
  const text = gpg('--armor', '--export', fingerprint).toString()

  const known = listing('bob@example.com')
  expect(known.subkeys).toHaveLength(1)
  expect(known.expiresAt).not.toBeNull()
  expect(await parsePgpPublicKey(text)).toEqual({ ...known, emails: ['bob@example.com'], armored: text.trim() })
}, 30_000)

test('keeps an address out that the key did not certify', async () => {
  const bent = Buffer.from(annBytes.toString('latin1').replaceAll('ann@work', 'eve@work'), 'latin1')
  const key = await parsePgpPublicKey(block(bent))
  expect(key?.userIds).toContain('Ann at work (office) <eve@work.example>')
  expect(key?.emails).toEqual(['ann@example.com'])
})

const person = (email: string) =>
  openpgp.generateKey({ userIDs: { email }, subkeys: [{ sign: true }], format: 'object' })

/** The thief's key with a subkey of the victim, bound by the thief alone. */
async function claimSubkey(
  thief: Awaited<ReturnType<typeof person>>,
  stolen: openpgp.Subkey,
  purpose: openpgp.enums.keyFlags,
) {
  const claim = new openpgp.SignaturePacket()
  claim.signatureType = openpgp.enums.signature.subkeyBinding
  claim.publicKeyAlgorithm = thief.privateKey.keyPacket.algorithm
  claim.hashAlgorithm = openpgp.enums.hash.sha512
  claim.keyFlags = new Uint8Array([purpose])
  const bound = { key: thief.publicKey.keyPacket, bind: stolen.keyPacket }
  // The library's types know neither this pair nor the last argument, which it needs.
  const sign = claim.sign.bind(claim) as (...args: unknown[]) => Promise<void>
  await sign(thief.privateKey.keyPacket, bound, new Date(), false, openpgp.config)

  const packets = thief.publicKey.toPacketList() as openpgp.PacketList<openpgp.AnyPacket>
  packets.push(stolen.keyPacket, claim)
  return new openpgp.PublicKey(packets).armor()
}

test('keeps a stolen signing subkey out, though the thief signed for it', async () => {
  const [victim, thief] = await Promise.all([person('victim@example.com'), person('thief@example.com')])
  const stolen = victim.publicKey.subkeys[0]!
  const { signData, encryptCommunication } = openpgp.enums.keyFlags
  const own = thief.publicKey.subkeys.map((subkey) => subkey.getFingerprint().toUpperCase())

  const key = await parsePgpPublicKey(await claimSubkey(thief, stolen, signData))
  expect(key?.subkeys.map((subkey) => subkey.fingerprint)).toEqual(own)

  const harmless = await parsePgpPublicKey(await claimSubkey(thief, stolen, encryptCommunication))
  expect(harmless?.subkeys).toHaveLength(2)
})

test('believes no address of a revoked key', async () => {
  const { privateKey } = await person('gone@example.com')
  const { publicKey } = await openpgp.revokeKey({ key: privateKey, format: 'armored' })
  expect(await parsePgpPublicKey(publicKey)).toMatchObject({ userIds: ['<gone@example.com>'], emails: [] })
})

const mpi = (bytes: number) =>
  Buffer.concat([Buffer.from([(bytes * 8) >> 8, (bytes * 8) & 255]), Buffer.alloc(bytes, 255)])

function rsa(modulus: number, exponent: number) {
  const body = Buffer.concat([Buffer.from([4, 0, 0, 0, 1, 1]), mpi(modulus), mpi(exponent)])
  return block(Buffer.concat([Buffer.from([0x99, body.length >> 8, body.length & 255]), body]))
}

test('refuses keys that would cost minutes to check', async () => {
  expect(await parsePgpPublicKey(rsa(2048, 4))).not.toBeNull()
  expect(await parsePgpPublicKey(rsa(2049, 4))).toBeNull()
  expect(await parsePgpPublicKey(rsa(512, 5))).toBeNull()

  const { publicKey, privateKey } = await person('many@example.com')
  const [user] = publicKey.users as [openpgp.User]
  const revoked = await user.revoke(privateKey.keyPacket as openpgp.SecretKeyPacket)
  user.selfCertifications = Array(20).fill(user.selfCertifications[0])
  user.revocationSignatures = Array(23).fill(revoked.revocationSignatures[0])
  expect(await parsePgpPublicKey(publicKey.armor())).toMatchObject({ emails: [] })
  user.revocationSignatures = Array(24).fill(revoked.revocationSignatures[0])
  expect(await parsePgpPublicKey(publicKey.armor())).toBeNull()
})

test('refuses all but one public key in one block', async () => {
  const other = gpg('--export', generate('eve@example.com', 'ed25519', 'never'))
  const annSecret = gpg('--export-secret-keys', annFingerprint)
  const refused = [
    '',
    `${ann}\n${block(other)}`,
    block(Buffer.concat([annBytes, other])),
    block(annSecret, 'PRIVATE KEY'),
    block(annSecret),
    `see my key\n${ann}`,
    `${ann}\nthat was it`,
    ann.replace('-----END', '-----BEGIN'),
    block(Buffer.from('garbage')),
    block(Buffer.alloc(0)),
    ann.replace('\n\n', `\nComment: ${'x'.repeat(128 * 1024)}\n\n`),
  ]
  for (const text of refused) expect(await parsePgpPublicKey(text)).toBeNull()
})

test('knows the outside of a block', () => {
  expect(looksLikePgpBlock(`\n${ann}\n`)).toBe(true)
  expect(looksLikePgpBlock('-----BEGIN PGP PUBLIC KEY BLOCK-----\n-----END PGP PUBLIC KEY BLOCK-----')).toBe(true)
  expect(looksLikePgpBlock(`x${ann}`)).toBe(false)
  expect(looksLikePgpBlock(`${ann}x`)).toBe(false)
  expect(looksLikePgpBlock(ann.replaceAll('PUBLIC', 'PRIVATE'))).toBe(false)
})

test('survives any cut or flipped byte, which leave no other key', async () => {
  const primaryLength = 2 + annBytes[1]! // later bytes cannot change the fingerprint
  const fingerprints = new Set<string | undefined>()
  for (let at = primaryLength; at < annBytes.length; at += 5) {
    const bent = Buffer.from(annBytes)
    bent[at]! ^= 1 << (at % 8)
    fingerprints.add((await parsePgpPublicKey(block(bent)))?.fingerprint)
    fingerprints.add((await parsePgpPublicKey(block(annBytes.subarray(0, at))))?.fingerprint)
  }
  expect(fingerprints).toEqual(new Set([annFingerprint, undefined]))

  for (let at = primaryLength - 32; at < primaryLength; at++) {
    const bent = Buffer.from(annBytes)
    bent[at]! ^= 1
    const key = await parsePgpPublicKey(block(bent))
    expect(key?.fingerprint).not.toBe(annFingerprint)
    expect(key?.emails ?? []).toEqual([])
  }
  for (let at = 0; at < ann.length; at += 11) {
    await expect(parsePgpPublicKey(`${ann.slice(0, at)}#${ann.slice(at)}`)).resolves.toBeDefined()
  }
}, 30_000)
