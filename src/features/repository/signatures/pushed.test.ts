import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { processesOf } from '../../../../test/git-builder.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { startForge, type TestForge } from '../../../forge.ts'

/** Ada's machine: her key, and git with signing enabled. Her commits use ada@example.com. */
async function machine() {
  const work = await workspace()
  const key = join(work.folder, 'key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ada@her-laptop', '-f', key])
  const git = async (...args: string[]) => {
    const done = await work.git('-C', 'src', ...args)
    if (done.code !== 0) throw new Error(done.stderr)
    return done.stdout
  }
  await work.git('init', '-q', '-b', 'master', 'src')
  await git('config', 'gpg.format', 'ssh')
  await git('config', 'user.signingkey', key)
  return {
    git,
    key,
    publicKey: readFileSync(`${key}.pub`, 'utf8').trim(),
    dir: join(work.folder, 'src', '.git'),
    [Symbol.asyncDispose]: work[Symbol.asyncDispose],
  }
}

const kept = async (forge: TestForge) => {
  await forge.settle()
  return forge.app.db.selectFrom('signatures').select(['object_id', 'kind', 'status']).orderBy('id').execute()
}

test('what is pushed signed with an SSH key is verified by then', async () => {
  await using forge = await startForge()
  await using ada = await machine()
  const person = await forge.user({ username: 'ada', name: 'Ada Byron' })
  const { id } = await forge.project({ path: 'engine', visibility: 'public' }, person)
  const { body: key } = await person.post('/user/keys', { title: 'Laptop', key: ada.publicKey, usage_type: 'signing' })
  await ada.git('commit', '-qm', 'unsigned', '--allow-empty')
  await ada.git('commit', '-q', '-S', '--allow-empty', '-m', 'signed')
  await ada.git('tag', '-s', '-m', 'One', 'v1')
  await ada.git('push', '-q', addressFor(forge, 'ada/engine', person), 'master', 'v1')
  const [commit, tag] = [await ada.git('rev-parse', 'master'), await ada.git('rev-parse', 'v1')]
  expect(await kept(forge)).toEqual([
    { object_id: commit, kind: 'SSH', status: 'verified' },
    { object_id: tag, kind: 'SSH', status: 'verified' },
  ])

  const shown = {
    signature_type: 'SSH',
    verification_status: 'verified',
    key: {
      id: key.id,
      title: 'Laptop',
      created_at: key.created_at,
      expires_at: null,
      key: ada.publicKey.replace('ada@her-laptop', `Ada Byron (${new URL(forge.url).hostname})`),
      usage_type: 'signing',
    },
  }
  const ofCommit = `/projects/${id}/repository/commits/${commit}/signature`
  const ofTag = `/projects/${id}/repository/tags/v1/signature`
  expect((await forge.visitor.get(ofCommit)).body).toEqual({ ...shown, commit_source: 'git' })
  expect((await forge.visitor.get(ofTag)).body).toEqual(shown)

  await person.delete(`/user/keys/${key.id}`)
  await forge.settle()
  expect((await forge.visitor.get(ofCommit)).body).toEqual({ ...shown, key: null, commit_source: 'git' })
})

test('commits pushed one upon the other, to branches old and new, are all looked at; one made here is not', async () => {
  await using forge = await startForge()
  await using ada = await machine()
  const person = await forge.user({ username: 'ada' })
  const { id } = await forge.project({ path: 'engine' }, person)
  const ids: string[] = []
  const commit = async () => {
    await ada.git('commit', '-q', '-S', '--allow-empty', '-m', `no. ${ids.length}`)
    ids.push(await ada.git('rev-parse', 'HEAD'))
  }
  const push = (...refs: string[]) => ada.git('push', '-q', addressFor(forge, 'ada/engine', person), ...refs)
  await commit()
  await push('HEAD:master')
  for (const branch of ['one', 'two', 'two']) {
    await commit()
    await push(`HEAD:refs/heads/${branch}`)
  }
  await commit()
  await commit()
  await push('HEAD:refs/heads/three')
  expect((await kept(forge)).map(({ object_id }) => object_id).toSorted()).toEqual(ids.toSorted())

  const actions = [{ action: 'create', file_path: 'x', content: 'x' }]
  const input = { branch: 'two', commit_message: 'by the API', actions }
  expect((await person.post(`/projects/${id}/repository/commits`, input)).status).toBe(201)
  const [event] = await forge.app.db.selectFrom('events').select('payload').orderBy('id', 'desc').limit(1).execute()
  expect(JSON.parse(event!.payload)).toMatchObject({ project_id: id, unsigned: true })
})

test('an SSH key may come later, and vouches for its owner’s addresses', async () => {
  await using forge = await startForge()
  await using ada = await machine()
  const person = await forge.user({ username: 'charles' })
  const { id } = await forge.project({ path: 'engine', visibility: 'public' }, person)
  await ada.git('commit', '-q', '-S', '--allow-empty', '-m', 'signed')
  await ada.git('push', '-q', addressFor(forge, 'charles/engine', person), 'master')
  const status = async () => {
    await forge.settle()
    const { body } = await forge.visitor.get(`/projects/${id}/repository/commits/master/signature`)
    return [body.verification_status, body.key?.id ?? null]
  }
  expect(await status()).toEqual(['unknown_key', null])
  const addKey = async (usage_type: string) =>
    (await person.post('/user/keys', { title: 'x', key: ada.publicKey, usage_type })).body.id as number
  const authOnly = await addKey('auth')
  expect(await status()).toEqual(['unknown_key', null])
  await person.delete(`/user/keys/${authOnly}`)
  // An unconfirmed address does not count.
  await person.post('/user/emails', { email: 'ada@example.com' })
  const key = await addKey('auth_and_signing')
  expect(await status()).toEqual(['other_user', key])
  await person.delete(`/user/emails/${(await person.get('/user/emails')).body[0].id}`)
  await forge.administrator.post(`/users/${person.id}/emails`, { email: 'ADA@example.com', skip_confirmation: true })
  expect(await status()).toEqual(['verified', key])
})

test('an SSH signature over something else is no signature', async () => {
  await using forge = await startForge()
  await using ada = await machine()
  const person = await forge.user({ username: 'ada' })
  const { id } = await forge.project({ path: 'engine', visibility: 'public' }, person)
  await person.post('/user/keys', { title: 'x', key: ada.publicKey })
  await ada.git('commit', '-q', '-S', '--allow-empty', '-m', 'signed')
  const good = await ada.git('cat-file', 'commit', 'master')
  const [head, message] = [good.replace(/gpgsig [^]*/, ''), '\nsigned\n']
  const signFor = (namespace: string) =>
    execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', namespace, '-f', ada.key], {
      input: `${head}${message}`,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  const signedWith = (armored: string) => `${head}gpgsig ${armored.trimEnd().replaceAll('\n', '\n ')}\n${message}`
  const contents = {
    verified: signedWith(signFor('git')),
    'another purpose': signedWith(signFor('file')),
    'another message': good.replace(/signed$/, 'forged'),
    'no armour': signedWith('-----BEGIN SSH SIGNATURE-----\nnonsense\n'),
    'a huge one': signedWith(signFor('git').replace('\n', `\n${'A'.repeat(100_000)}`)),
  }
  for (const [name, content] of Object.entries(contents)) {
    const sha = await writeCommit(ada.dir, content)
    const branch = name.replaceAll(' ', '-')
    await ada.git('push', '-q', addressFor(forge, 'ada/engine', person), `${sha}:refs/heads/${branch}`)
    await forge.settle()
    const { body } = await forge.visitor.get(`/projects/${id}/repository/commits/${sha}/signature`)
    const status = name === 'verified' ? 'verified' : 'unverified'
    expect([name, body]).toMatchObject([name, { signature_type: 'SSH', verification_status: status }])
  }
})

test('of a large push the newest hundred are looked at, without a process for each', async () => {
  await using forge = await startForge()
  await using ada = await machine()
  const person = await forge.user({ username: 'ada' })
  const { id } = await forge.project({ path: 'engine' }, person)
  await ada.git('commit', '-q', '-S', '--allow-empty', '-m', 'first')
  await ada.git('update-ref', 'refs/heads/master', await withNonsense(ada, 103))
  const started = await processesOf(async () => {
    await ada.git('push', '-q', addressFor(forge, 'ada/engine', person), 'master')
    await forge.settle()
  })
  expect(started.length).toBeLessThan(20)
  expect(await kept(forge)).toHaveLength(100)

  const signature = (name: string) => person.get(`/projects/${id}/repository/commits/${name}/signature`)
  expect((await signature('master~99')).body).toMatchObject({
    signature_type: 'PGP',
    verification_status: 'unverified',
  })
  expect(await kept(forge)).toHaveLength(100)
  expect((await signature('master~103')).body).toMatchObject({ signature_type: 'SSH' })
  expect(await kept(forge)).toHaveLength(101)
})

/** Adds this number of commits with fake signatures to master. Returns the id of the last one. */
async function withNonsense({ git, dir }: { git: (...args: string[]) => Promise<string>; dir: string }, count: number) {
  const tree = await git('rev-parse', 'master^{tree}')
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n nonsense\n -----END PGP SIGNATURE-----\n'
  let tip = await git('rev-parse', 'master')
  for (let n = 1; n <= count; n++) {
    const at = `Ada <ada@example.com> ${2_000_000_000 + n} +0000`
    const people = `author ${at}\ncommitter ${at}\n`
    tip = await writeCommit(dir, `tree ${tree}\nparent ${tip}\n${people}${signature}\n${n}\n`)
  }
  return tip
}

/** Writes a commit like git, without a process for each. */
async function writeCommit(dir: string, content: string): Promise<string> {
  const object = Buffer.from(`commit ${Buffer.byteLength(content)}\0${content}`)
  const id = createHash('sha1').update(object).digest('hex')
  const folder = join(dir, 'objects', id.slice(0, 2))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, id.slice(2)), deflateSync(object))
  return id
}
