import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

const keyFor = (...emails: string[]): Promise<KeyPair> =>
  generateKey({
    type: 'ecc',
    userIDs: emails.map((email) => ({ name: 'Jane', email })),
    // Openpgp counts whole seconds; a key of this second must not be younger than what it signs.
    date: new Date(Date.now() - 60_000),
  })

async function signatureOf(keys: readonly KeyPair[], text: string): Promise<string> {
  const signingKeys = await Promise.all(keys.map(({ privateKey }) => readPrivateKey({ armoredKey: privateKey })))
  const message = await createMessage({ binary: Buffer.from(text) })
  return (await sign({ message, signingKeys, detached: true, format: 'armored' })) as string
}

/** A commit by `email`, signed by these keys; `spoil` changes what was signed afterwards. */
async function signedCommit(forge: TestForge, email: string, keys: readonly KeyPair[], spoil = (text: string) => text) {
  const project = await forge.project({ visibility: 'public' })
  const dir = await fillProject(forge, project.id)
  const tree = await runGit([`--git-dir=${dir}`, 'rev-parse', 'master^{tree}'])
  const people = `author Jane <${email}> 1700000000 +0000\ncommitter Jane <${email}> 1700000000 +0000\n`
  const head = `tree ${tree}\n${people}`
  const armored = await signatureOf(keys, `${head}\nsigned\n`)
  const header = armored.trimEnd().replaceAll('\r', '').replaceAll('\n', '\n ')
  const content = Buffer.from(spoil(`${head}gpgsig ${header}\n\nsigned\n`))
  const sha = await runGit([`--git-dir=${dir}`, 'hash-object', '-t', 'commit', '-w', '--stdin'], content)
  return `/projects/${project.id}/repository/commits/${sha}/signature`
}

const add = async (person: Person, { publicKey }: KeyPair) =>
  (await person.post('/user/gpg_keys', { key: publicKey })).body.id as number

test('a good signature with a known key and the committer’s email is verified', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  const key = await keyFor(jane.email)
  const id = await add(jane, key)
  const { status, body } = await forge.visitor.get(await signedCommit(forge, jane.email, [key]))
  expect(status).toBe(200)
  expect(body).toEqual({
    signature_type: 'PGP',
    verification_status: 'verified',
    commit_source: 'git',
    gpg_key_id: id,
    gpg_key_primary_keyid: expect.stringMatching(/^[0-9A-F]{16}$/),
    gpg_key_user_name: 'Jane',
    gpg_key_user_email: jane.email,
    gpg_key_subkey_id: null,
  })
})

test('everything else is not', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ username: 'jane' })
  await jane.post('/user/emails', { email: 'second@example.com' })
  const key = await keyFor(jane.email)
  const stranger = await keyFor('stranger@example.com')
  const [unknown, foreign] = [await keyFor(jane.email), await keyFor('elsewhere@example.com')]
  await add(jane, key)
  await add(jane, foreign)
  const statusOf = async (url: string) => (await forge.visitor.get(url)).body.verification_status

  expect(await statusOf(await signedCommit(forge, 'second@example.com', [key]))).toBe('same_user_different_email')
  expect(await statusOf(await signedCommit(forge, 'other@example.com', [key]))).toBe('other_user')
  expect(await statusOf(await signedCommit(forge, 'elsewhere@example.com', [foreign]))).toBe('unverified_key')
  expect(await statusOf(await signedCommit(forge, jane.email, [unknown]))).toBe('unknown_key')
  expect(await statusOf(await signedCommit(forge, jane.email, [stranger]))).toBe('unknown_key')
  expect(await statusOf(await signedCommit(forge, jane.email, [key, unknown]))).toBe('multiple_signatures')
  const tampered = (text: string) => text.replace(/signed\n$/, 'forged\n')
  expect(await statusOf(await signedCommit(forge, jane.email, [key], tampered))).toBe('unverified')
  const broken = (text: string) => text.replace(/\n (\S{20})/, '\n !!!$1')
  expect(await statusOf(await signedCommit(forge, jane.email, [key], broken))).toBe('unverified')
})

test('a key that is gone vouches for nothing', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const key = await keyFor(jane.email)
  const id = await add(jane, key)
  const url = await signedCommit(forge, jane.email, [key])
  await jane.delete(`/user/gpg_keys/${id}`)
  expect((await forge.visitor.get(url)).body).toMatchObject({ verification_status: 'unknown_key', gpg_key_id: null })
})
