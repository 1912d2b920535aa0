import { randomUUID } from 'node:crypto'
import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp'
import { expect, test } from 'vitest'
import { Browser } from '../../../../test/browser.ts'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { linkIn, mailsOf } from '../../../../test/mailbox.ts'
import { startForge, type Client, type Person, type TestForge } from '../../../forge.ts'

interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

const keyFor = (...emails: string[]): Promise<KeyPair> => makeKey(emails, [{}])
const makeKey = (emails: string[], subkeys: { sign?: boolean }[]): Promise<KeyPair> =>
  generateKey({
    type: 'ecc',
    userIDs: emails.map((email) => ({ name: 'Jane', email })),
    subkeys,
    // Openpgp uses whole seconds; a key of this second must not be newer than its signature.
    date: new Date(Date.now() - 60_000),
  })

async function signatureOf(keys: readonly KeyPair[], text: string): Promise<string> {
  const signingKeys = await Promise.all(keys.map(({ privateKey }) => readPrivateKey({ armoredKey: privateKey })))
  const message = await createMessage({ binary: Buffer.from(text) })
  const armored = (await sign({ message, signingKeys, detached: true, format: 'armored' })) as string
  return armored.trimEnd().replaceAll('\r', '')
}

const person = (role: string, email: string) => `${role} Jane <${email}> 1700000000 +0000\n`

async function filled(forge: TestForge) {
  const { id } = await forge.project({ visibility: 'public' })
  const dir = await fillProject(forge, id)
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  const write = (type: string, content: string) =>
    runGit([`--git-dir=${dir}`, 'hash-object', '-t', type, '-w', '--stdin'], Buffer.from(content))
  return { id: id as number, git, write }
}

/** A commit by `email`, signed with these keys; `spoil` changes the signed content afterwards. */
async function signedCommit(
  { id, git, write }: Awaited<ReturnType<typeof filled>>,
  email: string,
  keys: readonly KeyPair[],
  spoil = (text: string) => text,
) {
  const head = `tree ${await git('rev-parse', 'master^{tree}')}\n${person('author', email)}${person('committer', email)}`
  const message = `${randomUUID()} signed\n`
  const armored = await signatureOf(keys, `${head}\n${message}`)
  const sha = await write('commit', spoil(`${head}gpgsig ${armored.replaceAll('\n', '\n ')}\n\n${message}`))
  return `/projects/${id}/repository/commits/${sha}/signature`
}

const add = async (person: Person, { publicKey }: KeyPair) =>
  (await person.post('/user/gpg_keys', { key: publicKey })).body.id as number

const statusOf = async (client: Client, url: string) => (await client.get(url)).body.verification_status

test('a good signature with a known key and the committer’s email is verified', async () => {
  await using forge = await startForge()
  const project = await filled(forge)
  const jane = await forge.user({ username: 'jane' })
  const key = await keyFor(jane.email)
  const id = await add(jane, key)
  const url = await signedCommit(project, jane.email, [key])
  const { status, body } = await forge.visitor.get(url)
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
  expect((await forge.visitor.get(url)).body).toEqual(body)
  const rows = await forge.app.db.selectFrom('signatures').select(['status', 'signed_by']).execute()
  expect(rows).toEqual([{ status: 'verified', signed_by: body.gpg_key_primary_keyid }])
})

test('everything else is not', async () => {
  await using forge = await startForge()
  const project = await filled(forge)
  const jane = await forge.user({ username: 'jane' })
  await forge.administrator.post(`/users/${jane.id}/emails`, { email: 'second@example.com', skip_confirmation: true })
  const key = await keyFor(jane.email)
  const stranger = await keyFor('stranger@example.com')
  const [unknown, foreign] = [await keyFor(jane.email), await keyFor('elsewhere@example.com')]
  await add(jane, key)
  await add(jane, foreign)
  const found = async (email: string, keys: KeyPair[], spoil?: (text: string) => string) =>
    statusOf(forge.visitor, await signedCommit(project, email, keys, spoil))

  expect(await found('second@example.com', [key])).toBe('same_user_different_email')
  expect(await found('other@example.com', [key])).toBe('other_user')
  expect(await found('elsewhere@example.com', [foreign])).toBe('unverified_key')
  expect(await found(jane.email, [unknown])).toBe('unknown_key')
  expect(await found(jane.email, [stranger])).toBe('unknown_key')
  expect(await found(jane.email, [key, unknown])).toBe('multiple_signatures')
  expect(await found(jane.email, [key], (text) => text.replace(/signed\n$/, 'forged\n'))).toBe('unverified')
  expect(await found(jane.email, [key], (text) => text.replace('gpgsig ', 'gpgsigned x\ngpgsig '))).toBe('unverified')
  expect(await found(jane.email, [key], (text) => text.replace(/\n (\S{20})/, '\n !!!$1'))).toBe('unverified')
  const padded = (lines: number) => (text: string) =>
    text.replace('\n \n', `\n \n${` ${'A'.repeat(64)}\n`.repeat(lines)}`)
  expect(await found(jane.email, [key], padded(600))).toBe('unverified')
  expect(await found(jane.email, [key], padded(20_000))).toBe('unverified')
  expect(await found(jane.email, [key], (text) => `${text}${'x'.repeat(1024 * 1024)}`)).toBe('unverified')
  const x509 = (text: string) => text.replaceAll('PGP SIGNATURE', 'SIGNED MESSAGE')
  expect((await forge.visitor.get(await signedCommit(project, jane.email, [key], x509))).body).toEqual({
    signature_type: 'X509',
    verification_status: 'unverified',
    x509_certificate: null,
    commit_source: 'git',
  })
})

test('what carries no signature has none', async () => {
  await using forge = await startForge()
  const project = await filled(forge)
  const none = { status: 404, body: { message: '404 Signature Not Found' } }
  expect(await forge.visitor.get(`/projects/${project.id}/repository/commits/master/signature`)).toMatchObject(none)
  const jane = await forge.user()
  const unheard = (text: string) => text.replaceAll('PGP SIGNATURE', 'NEW SIGNATURE')
  const url = await signedCommit(project, jane.email, [await keyFor(jane.email)], unheard)
  expect(await forge.visitor.get(url)).toMatchObject(none)
  expect(await forge.app.db.selectFrom('signatures').select('id').execute()).toEqual([])
})

test('what was verified stays so when its key is removed, not when it is revoked', async () => {
  await using forge = await startForge()
  const project = await filled(forge)
  const jane = await forge.user()
  const key = await keyFor(jane.email)
  const id = await add(jane, key)
  const seen = await signedCommit(project, jane.email, [key])
  const unseen = await signedCommit(project, jane.email, [key])
  const { body: verified } = await forge.visitor.get(seen)

  await jane.delete(`/user/gpg_keys/${id}`)
  await forge.settle()
  expect((await forge.visitor.get(seen)).body).toEqual({ ...verified, gpg_key_id: null })
  expect(await statusOf(forge.visitor, unseen)).toBe('unknown_key')

  const again = await add(jane, key)
  await forge.settle()
  expect((await forge.visitor.get(unseen)).body).toEqual({ ...verified, gpg_key_id: again })
  await jane.post(`/user/gpg_keys/${again}/revoke`)
  await forge.settle()
  for (const url of [seen, unseen]) {
    expect((await forge.visitor.get(url)).body).toEqual({
      ...verified,
      verification_status: 'unknown_key',
      gpg_key_id: null,
      gpg_key_user_name: null,
      gpg_key_user_email: null,
    })
  }
})

test('a key that comes later, or is revoked and comes again, is asked once more', async () => {
  await using forge = await startForge()
  const project = await filled(forge)
  const [jane, other] = [await forge.user(), await forge.user()]
  const key = await makeKey([jane.email], [{ sign: true }])
  const elsewhere = await filled(forge)
  const urls = [await signedCommit(project, jane.email, [key]), await signedCommit(elsewhere, jane.email, [key])]
  const foreign = await signedCommit(project, jane.email, [await keyFor(jane.email)])
  for (const url of [...urls, foreign]) expect(await statusOf(forge.visitor, url)).toBe('unknown_key')

  const stolen = await add(other, key)
  await forge.settle()
  for (const url of urls) expect(await statusOf(forge.visitor, url)).toBe('unverified_key')
  await other.post(`/user/gpg_keys/${stolen}/revoke`)
  const id = await add(jane, key)
  await forge.settle()
  for (const url of urls) {
    const { body } = await forge.visitor.get(url)
    expect(body).toMatchObject({
      verification_status: 'verified',
      gpg_key_id: id,
      gpg_key_subkey_id: expect.any(Number),
    })
  }
  expect(await statusOf(forge.visitor, foreign)).toBe('unknown_key')
})

test('emails that come and go change what is not verified', async () => {
  await using forge = await startForge()
  const project = await filled(forge)
  const jane = await forge.user()
  const key = await keyFor(jane.email)
  await add(jane, key)
  const foreign = await keyFor('home@example.com')
  await add(jane, foreign)
  const byHome = await signedCommit(project, 'home@example.com', [foreign])
  const atHome = await signedCommit(project, 'home@example.com', [key])
  const statuses = async () => {
    await forge.settle()
    return [await statusOf(forge.visitor, byHome), await statusOf(forge.visitor, atHome)]
  }
  expect(await statuses()).toEqual(['unverified_key', 'other_user'])
  const { body: email } = await forge.administrator.post(`/users/${jane.id}/emails`, {
    email: 'home@example.com',
    skip_confirmation: true,
  })
  expect(await statuses()).toEqual(['verified', 'same_user_different_email'])
  await jane.delete(`/user/emails/${email.id}`)
  expect(await statuses()).toEqual(['verified', 'other_user'])
})

test('an address counts from its confirmation on', async () => {
  await using forge = await startForge()
  const project = await filled(forge)
  const ann = await forge.user({ skip_confirmation: false })
  const key = await keyFor(ann.email)
  await add(ann, key)
  const url = await signedCommit(project, ann.email, [key])
  expect(await statusOf(forge.visitor, url)).toBe('unverified_key')
  const mail = (await mailsOf(forge)).find(({ to }) => to === ann.email)!
  const browser = new Browser(forge.url)
  await browser.submit(await browser.get(linkIn(mail)), {})
  await forge.settle()
  expect(await statusOf(forge.visitor, url)).toBe('verified')
})

test('a tag is signed by its tagger', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const key = await keyFor(jane.email)
  const id = await add(jane, key)
  const project = await filled(forge)
  const { git, write } = project
  const object = await git('rev-parse', 'master')
  const tag = async (name: string, tagger: string, spoil = '') => {
    const text = `object ${object}\ntype commit\ntag ${name}\n${tagger}\nSigned\n`
    await git(
      'update-ref',
      `refs/tags/${name}`,
      await write('tag', `${text}${spoil}${await signatureOf([key], text)}\n`),
    )
  }
  await tag('v1', person('tagger', jane.email))
  await tag('v2', person('tagger', 'other@example.com'))
  await tag('v3', person('tagger', jane.email), 'forged\n')
  await tag('old', '')
  await git('tag', 'light', 'master')
  await git('-c', 'user.name=x', '-c', 'user.email=x@x', 'tag', '-m', 'unsigned', 'plain', 'master')
  const signature = (name: string) => forge.visitor.get(`/projects/${project.id}/repository/tags/${name}/signature`)

  expect((await signature('v1')).body).toEqual({
    signature_type: 'PGP',
    verification_status: 'verified',
    gpg_key_id: id,
    gpg_key_primary_keyid: expect.stringMatching(/^[0-9A-F]{16}$/),
    gpg_key_user_name: 'Jane',
    gpg_key_user_email: jane.email,
    gpg_key_subkey_id: null,
  })
  const found = []
  for (const name of ['v2', 'v3', 'old']) found.push((await signature(name)).body.verification_status)
  expect(found).toEqual(['other_user', 'unverified', 'other_user'])
  const refused = []
  for (const name of ['light', 'plain', 'nothing', 'no%2Fsuch']) refused.push(await signature(name))
  expect(refused).toMatchObject([
    { status: 404, body: { message: '404 Signature Not Found' } },
    { status: 404, body: { message: '404 Signature Not Found' } },
    { status: 404, body: { message: '404 Tag Not Found' } },
    { status: 404, body: { message: '404 Tag Not Found' } },
  ])
})
