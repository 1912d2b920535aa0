import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildRepository } from '../../../test/git-builder.ts'
import { readObject } from './objects.ts'
import { findTag } from '../refs/refs.ts'
import { signedCommit, signedTag, type Signed } from './signatures.ts'

const TREE = `tree ${'1'.repeat(40)}\n`
const PEOPLE = 'author A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n'
const PGP = '-----BEGIN PGP SIGNATURE-----\n\nabc=\n-----END PGP SIGNATURE-----'
const headerOf = (name: string, signature: string) => `${name} ${signature.replaceAll('\n', '\n ')}\n`
const asText = (signed: Signed | null) => signed && { ...signed, payload: signed.payload.toString('latin1') }

test('a commit signs all but its signatures', () => {
  const rest = 'encoding ISO-8859-1\n\nSubject \xfc\n\ngpgsig not a header\n'
  const content = TREE + PEOPLE + headerOf('gpgsig', PGP) + headerOf('gpgsig-sha256', 'x\ny') + rest
  expect(asText(signedCommit(Buffer.from(content, 'latin1')))).toEqual({
    kind: 'PGP',
    signature: PGP,
    payload: TREE + PEOPLE + rest,
  })
  for (const other of [TREE + PEOPLE + rest, TREE + headerOf('gpgsig', 'nonsense') + '\nx', '', `\n${PGP}\n`])
    expect(signedCommit(Buffer.from(other))).toBeNull()
  expect(signedCommit(Buffer.from(headerOf('gpgsig', '-----BEGIN SIGNED MESSAGE-----\nx') + '\n'))?.kind).toBe('X509')
})

test('a tag signs what stands before its last signature', () => {
  const payload = `object ${'1'.repeat(40)}\ntype commit\ntag v1\ntagger A <a@x> 1 +0000\n\nquote:\n${PGP}\nend\n`
  expect(asText(signedTag(Buffer.from(`${payload}${PGP}\n`)))).toEqual({ kind: 'PGP', payload, signature: `${PGP}\n` })
  expect(signedTag(Buffer.from('object x\n\nno signature -----BEGIN PGP SIGNATURE-----\n'))).toBeNull()
})

test('what git has signed, another program verifies', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const key = join(repo.root, 'key')
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  const signing = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${key}`, '-c', 'user.name=A', '-c', 'user.email=a@x']
  const commit = await repo.git(...signing, 'commit-tree', '-S', '-m', 'Signed é', 'master^{tree}')
  await repo.git(...signing, 'tag', '-s', '-m', 'One\n\ntwo', 'v1', 'master')

  const isGood = async (signed: Signed | null, payload = signed!.payload) => {
    await writeFile(join(repo.root, 'sig'), signed!.signature)
    const args = ['-Y', 'check-novalidate', '-n', 'git', '-s', join(repo.root, 'sig')]
    return spawnSync('ssh-keygen', args, { input: payload }).status === 0
  }
  const ofCommit = signedCommit((await readObject(repo.dir, commit))!.content!)
  const ofTag = signedTag((await readObject(repo.dir, 'v1'))!.content!)
  expect(readFileSync(`${key}.pub`, 'utf8')).toMatch(/^ssh-ed25519/)
  expect([ofCommit?.kind, await isGood(ofCommit), await isGood(ofCommit, Buffer.from('x'))]).toEqual([
    'SSH',
    true,
    false,
  ])
  expect([ofTag?.kind, await isGood(ofTag)]).toEqual(['SSH', true])
  expect((await findTag(repo.dir, 'v1'))?.annotation).toMatchObject({
    message: 'One\n\ntwo',
    signature: ofTag!.signature,
  })
})
