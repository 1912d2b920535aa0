/** Attacks with deploy tokens and deploy keys through every endpoint: what they open, and what they must not open. */
import { describe, expect, test } from 'vitest'
import ssh2 from 'ssh2'
import { text } from 'node:stream/consumers'
import { LfsClient, basic, objectOf } from '../../test/lfs.ts'
import { newKey, sshPortOf, startSshForge, type KeyPair } from '../../test/ssh.ts'
import { DAY, MINUTE } from '../clock.ts'
import { startForge, type Person, type TestForge } from '../forge.ts'

const FILE = objectOf('a picture')

/**
 * A group with a project, and outside of it another private, an internal and a public project, all with code and LFS.
 */
async function stage(forge: TestForge) {
  // Otherwise each invalid token would also be tried as a password and reach the throttle.
  await forge.administrator.put('/application/settings', { password_authentication_enabled_for_git: false })
  const owner = await forge.user({ username: 'ann' })
  const group = await forge.group({ path: 'team' }, owner)
  const sub = await forge.group({ path: 'deep', parent_id: group.id }, owner)
  const make = async (path: string, input: Record<string, unknown> = {}) => {
    const project = await forge.project({ path, ...input }, owner)
    await forge.seed(project, { 'a.txt': 'one' })
    await new LfsClient(forge, project.path_with_namespace, basic('ann', owner.token)).put(FILE)
    return project
  }
  return {
    owner,
    group,
    own: await make('own', { namespace_id: sub.id }),
    other: await make('other'),
    internal: await make('internal', { visibility: 'internal' }),
    open: await make('open', { visibility: 'public' }),
  }
}

type Stage = Awaited<ReturnType<typeof stage>>
type At = Stage['own']

const service = async (forge: TestForge, path: string, name: string, authorization: string) =>
  (await fetch(`${forge.url}/${path}.git/info/refs?service=git-${name}`, { headers: { Authorization: authorization } }))
    .status

/** The statuses of fetch, push, LFS download, upload, lock, and the wiki. */
async function doors(forge: TestForge, { path_with_namespace: path }: At, authorization: string) {
  const lfs = new LfsClient(forge, path, authorization)
  return [
    await service(forge, path, 'upload-pack', authorization),
    await service(forge, path, 'receive-pack', authorization),
    (await lfs.batch('download', FILE)).status,
    (await lfs.batch('upload', FILE)).status,
    (await lfs.post('info/lfs/locks', { path: 'a.bin' })).status,
    await service(forge, `${path}.wiki`, 'upload-pack', authorization),
  ]
}

const READS = [200, 403, 200, 403, 403, 403]
const HIDDEN = [404, 404, 404, 404, 404, 404]
const WRONG = [401, 401, 401, 401, 401, 401]

async function tokenFor(owner: Person, where: string, input: Record<string, unknown> = {}) {
  const { status, body } = await owner.post(`${where}/deploy_tokens`, {
    name: 'ci',
    scopes: ['read_repository'],
    ...input,
  })
  expect(status).toBe(201)
  return { id: body.id as number, secret: body.token as string, shown: basic(body.username, body.token), ...body }
}

describe('a deploy token', () => {
  test.each(['project', 'group'])('of a %s reads there, and nowhere else', async (kind) => {
    await using forge = await startForge()
    const at = await stage(forge)
    const { owner, group, own, other, internal, open } = at
    const where = kind === 'project' ? `/projects/${own.id}` : `/groups/${group.id}`
    const token = await tokenFor(owner, where, { scopes: ['read_repository', 'read_registry'] })
    expect(await doors(forge, own, token.shown)).toEqual(READS)
    expect(await doors(forge, other, token.shown)).toEqual(HIDDEN)
    expect(await doors(forge, internal, token.shown)).toEqual(HIDDEN)
    // Like an anonymous visitor; there is no wiki yet.
    expect(await doors(forge, open, token.shown)).toEqual([200, 403, 200, 403, 403, 404])
    // A fork inherits neither the token nor its access.
    const fork = (await owner.post(`/projects/${own.id}/fork`, { path: 'copy' })).body
    await forge.settle()
    expect((await owner.get(`/projects/${fork.id}/deploy_tokens`)).body).toEqual([])
    expect(await doors(forge, fork, token.shown)).toEqual(HIDDEN)
  })

  test('opens nothing under another name, and nothing of the API', async () => {
    await using forge = await startForge()
    const { owner, own } = await stage(forge)
    const token = await tokenFor(owner, `/projects/${own.id}`, { username: 'robot' })
    for (const name of ['ann', '', 'oauth2', 'ROBOT', 'gitlab-ci-token', 'robot\0', 'lfs+deploy-key-1']) {
      expect([name, await doors(forge, own, basic(name, token.secret))]).toEqual([name, WRONG])
    }
    expect(await doors(forge, own, `Bearer ${token.secret}`)).toEqual(WRONG)
    const ways: Record<string, string>[] = [
      { 'PRIVATE-TOKEN': token.secret },
      { Authorization: `Bearer ${token.secret}` },
      { Authorization: token.shown },
      { 'JOB-TOKEN': token.secret },
      { Cookie: `_service_session=${token.secret}` },
    ]
    for (const way of ways) {
      const client = forge.as(way)
      expect([way, (await client.get('/user')).status]).toEqual([way, 401])
      expect([way, (await client.get(`/projects/${own.id}`)).status >= 400]).toEqual([way, true])
      expect([way, (await client.get(`/projects/${own.id}/repository/files/a.txt/raw?ref=master`)).status]).not.toEqual(
        [way, 200],
      )
    }
    expect((await forge.visitor.get('/user', { private_token: token.secret })).status).toBe(401)
  })

  test('that is not for code opens none', async () => {
    await using forge = await startForge()
    const { owner, own, open } = await stage(forge)
    const token = await tokenFor(owner, `/projects/${own.id}`, { scopes: ['read_registry'] })
    expect(await doors(forge, own, token.shown)).toEqual([403, 403, 403, 403, 403, 403])
    expect(await doors(forge, open, token.shown)).toEqual([403, 403, 403, 403, 403, 403])
  })

  test('ends: with its time, when it is deleted, with the group it came from, with the project', async () => {
    await using forge = await startForge()
    const { owner, group, own, other } = await stage(forge)
    const expires_at = new Date(forge.clock.now().getTime() + DAY).toISOString()
    const passing = await tokenFor(owner, `/projects/${own.id}`, { expires_at })
    const lasting = await tokenFor(owner, `/projects/${own.id}`)
    const ofGroup = await tokenFor(owner, `/groups/${group.id}`)
    const ofOther = await tokenFor(owner, `/projects/${other.id}`)
    // LFS tokens that were issued for it end with it, although they would last two hours.
    const noted = async (shown: string) => {
      const lfs = new LfsClient(forge, own.path_with_namespace, shown)
      const { download } = (await lfs.batch('download', FILE)).body.objects[0].actions
      return () => lfs.request('GET', download.href, undefined, download.header).then(({ status }) => status)
    }
    forge.clock.advance(DAY - MINUTE)
    const downloads = [await noted(passing.shown), await noted(lasting.shown), await noted(ofGroup.shown)]
    for (const download of downloads) expect(await download()).toBe(200)

    forge.clock.advance(MINUTE)
    expect(await doors(forge, own, passing.shown)).toEqual(WRONG)
    expect(await downloads[0]!()).toBe(401)

    await owner.delete(`/projects/${own.id}/deploy_tokens/${lasting.id}`)
    expect(await doors(forge, own, lasting.shown)).toEqual(WRONG)
    expect(await downloads[1]!()).toBe(401)

    expect((await owner.put(`/projects/${own.id}/transfer`, { namespace: owner.username })).status).toBe(200)
    const moved = (await owner.get(`/projects/${own.id}`)).body
    expect(await doors(forge, moved, ofGroup.shown)).toEqual(HIDDEN)
    expect(await downloads[2]!()).toBe(404)

    await owner.delete(`/projects/${other.id}`)
    expect((await doors(forge, other, ofOther.shown)).every((status) => status >= 400)).toBe(true)
    await forge.settle()
    expect((await doors(forge, other, ofOther.shown)).every((status) => status >= 400)).toBe(true)
    expect(await forge.app.db.selectFrom('deploy_tokens').select('id').where('id', '=', ofOther.id).execute()).toEqual(
      [],
    )
  })

  test('is not read, changed or deleted by way of another project or group', async () => {
    await using forge = await startForge()
    const { owner, group, own, other } = await stage(forge)
    const mallory = await forge.user({ username: 'mallory' })
    const hers = await forge.project({ path: 'hers' }, mallory)
    const crew = await forge.group({ path: 'crew' }, mallory)
    const ofProject = await tokenFor(owner, `/projects/${own.id}`)
    const ofGroup = await tokenFor(owner, `/groups/${group.id}`)
    for (const { id } of [ofProject, ofGroup]) {
      for (const where of [
        `/projects/${hers.id}`,
        `/groups/${crew.id}`,
        `/projects/${own.id}`,
        `/groups/${group.id}`,
      ]) {
        const address = `${where}/deploy_tokens/${id}`
        expect([address, (await mallory.get(address)).status]).toEqual([address, 404])
        expect([address, (await mallory.delete(address)).status]).toEqual([address, 404])
      }
      expect((await owner.delete(`/projects/${other.id}/deploy_tokens/${id}`)).status).toBe(404)
    }
    expect(await doors(forge, own, ofProject.shown)).toEqual(READS)
    expect(await doors(forge, own, ofGroup.shown)).toEqual(READS)
  })
})

/** The output, and whether the command succeeded. */
async function overSsh(forge: TestForge, key: KeyPair, line: string) {
  const client = new ssh2.Client()
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number | null; output: string; errors: string }>()
  client.on('error', reject)
  client.on('ready', () => {
    client.exec(line, (error, channel) => {
      if (error) return reject(error)
      const [output, errors] = [text(channel), text(channel.stderr)]
      let code: number | null = null
      channel.on('exit', (given: number) => (code = given))
      channel.on('close', () => {
        void Promise.all([output, errors]).then(([output, errors]) => resolve({ code, output, errors }))
      })
      channel.end('0000')
    })
  })
  client.connect({ host: '127.0.0.1', port: sshPortOf(forge), username: 'git', privateKey: key.private })
  try {
    return await promise
  } finally {
    client.end()
  }
}

/** Fetch, push, LFS download and upload, the wiki: `yes`, or the message. */
async function sshDoors(forge: TestForge, key: KeyPair, path: string) {
  const answers: string[] = []
  for (const line of [
    `git-upload-pack '${path}.git'`,
    `git-receive-pack '${path}.git'`,
    `git-lfs-authenticate ${path}.git download`,
    `git-lfs-authenticate ${path}.git upload`,
    `git-receive-pack '${path}.wiki.git'`,
  ]) {
    const { code, errors } = await overSsh(forge, key, line).catch((error: Error) => ({
      code: 1,
      errors: error.message,
    }))
    answers.push(code === 0 ? 'yes' : errors.replace('Mortise: ', '').trim())
  }
  return answers
}

const NOT_FOUND = "The project you were looking for could not be found or you don't have permission to view it."
const NO_WRITE = 'This deploy key does not have write access to this project.'
const NO_WIKI = "You are not allowed to write to this project's wiki."
const NONE = Array.from({ length: 5 }, () => 'All configured authentication methods failed')
const NOWHERE = Array.from({ length: 5 }, () => NOT_FOUND)

describe('a deploy key', () => {
  test('reads, or writes, where it is enabled, and nowhere else', async () => {
    await using forge = await startSshForge()
    const { owner, own, other, internal, open } = await stage(forge)
    const key = await newKey()
    const url = `/projects/${own.id}/deploy_keys`
    const { body } = await owner.post(url, { title: 'ci', key: key.public })
    expect(await sshDoors(forge, key, own.path_with_namespace)).toEqual(['yes', NO_WRITE, 'yes', NO_WRITE, NO_WIKI])
    await owner.put(`${url}/${body.id}`, { can_push: true })
    expect(await sshDoors(forge, key, own.path_with_namespace)).toEqual(['yes', 'yes', 'yes', 'yes', NO_WIKI])
    // The key does not get the permissions of its creator, who may do everything there.
    expect(await sshDoors(forge, key, other.path_with_namespace)).toEqual(NOWHERE)
    expect(await sshDoors(forge, key, internal.path_with_namespace)).toEqual(NOWHERE)
    expect(await sshDoors(forge, key, open.path_with_namespace)).toEqual(['yes', NO_WRITE, 'yes', NO_WRITE, NO_WIKI])
    // Enabled in another project, the key only reads there, whatever it may do here.
    await owner.post(`/projects/${other.id}/deploy_keys/${body.id}/enable`)
    expect(await sshDoors(forge, key, other.path_with_namespace)).toEqual(['yes', NO_WRITE, 'yes', NO_WRITE, NO_WIKI])
    const fork = (await owner.post(`/projects/${own.id}/fork`, { path: 'copy' })).body
    await forge.settle()
    expect(await sshDoors(forge, key, fork.path_with_namespace)).toEqual(NOWHERE)
    await owner.post(`/projects/${own.id}/archive`)
    expect((await sshDoors(forge, key, own.path_with_namespace))[1]).toBe("You can't push code to an archived project.")
  })

  test('ends: with its time, when it is taken away, with its project; and what LFS gave for it', async () => {
    await using forge = await startSshForge()
    const { owner, own, other } = await stage(forge)
    const path = own.path_with_namespace
    const url = `/projects/${own.id}/deploy_keys`
    const add = async (input = {}, to = url) => {
      const key = await newKey()
      const { body } = await owner.post(to, { title: 'ci', key: key.public, can_push: true, ...input })
      return { key, id: body.id as number }
    }
    /** The answer of `git-lfs-authenticate`. */
    const handed = async (key: KeyPair, at: string) => {
      const { output } = await overSsh(forge, key, `git-lfs-authenticate ${at}.git upload`)
      const { Authorization } = JSON.parse(output).header
      const lfs = new LfsClient(forge, at, Authorization)
      return async () => [(await lfs.batch('download', FILE)).status, (await lfs.batch('upload', FILE)).status]
    }
    const expires_at = new Date(forge.clock.now().getTime() + DAY).toISOString()
    const passing = await add({ expires_at })
    const lasting = await add()
    const reduced = await add()
    const elsewhere = await add({}, `/projects/${other.id}/deploy_keys`)
    forge.clock.advance(DAY - MINUTE)
    const lfs = {
      passing: await handed(passing.key, path),
      lasting: await handed(lasting.key, path),
      reduced: await handed(reduced.key, path),
      elsewhere: await handed(elsewhere.key, other.path_with_namespace),
    }
    for (const asked of Object.values(lfs)) expect(await asked()).toEqual([200, 200])

    forge.clock.advance(MINUTE)
    expect(await sshDoors(forge, passing.key, path)).toEqual(NONE)
    expect(await lfs.passing()).toEqual([401, 401])

    await owner.put(`${url}/${reduced.id}`, { can_push: false })
    expect((await sshDoors(forge, reduced.key, path)).slice(0, 2)).toEqual(['yes', NO_WRITE])
    expect(await lfs.reduced()).toEqual([200, 403])

    await owner.delete(`${url}/${lasting.id}`)
    expect(await sshDoors(forge, lasting.key, path)).toEqual(NONE)
    expect(await lfs.lasting()).toEqual([401, 401])

    await owner.delete(`/projects/${other.id}`)
    await forge.settle()
    expect(await sshDoors(forge, elsewhere.key, other.path_with_namespace)).toEqual(NONE)
    expect((await lfs.elsewhere()).every((status) => status >= 400)).toBe(true)
  })

  test('of another project is not enabled, renamed, read or allowed to push by knowing its id or its text', async () => {
    await using forge = await startForge()
    const { owner, own } = await stage(forge)
    const mallory = await forge.user({ username: 'mallory' })
    const hers = await forge.project({ path: 'hers' }, mallory)
    const key = (await newKey()).public
    const { body } = await owner.post(`/projects/${own.id}/deploy_keys`, { title: 'ci', key })
    const url = `/projects/${hers.id}/deploy_keys`
    expect((await mallory.post(`${url}/${body.id}/enable`)).status).toBe(404)
    expect((await mallory.post(url, { title: 'mine', key, can_push: true })).status).toBe(400)
    for (const where of [url, `/projects/${own.id}/deploy_keys`]) {
      expect((await mallory.get(`${where}/${body.id}`)).status).toBe(404)
      expect((await mallory.put(`${where}/${body.id}`, { can_push: true, title: 'x' })).status).toBe(404)
      expect((await mallory.delete(`${where}/${body.id}`)).status).toBe(404)
    }
    expect((await owner.get(`/projects/${own.id}/deploy_keys`)).body).toMatchObject([{ title: 'ci', can_push: false }])
  })
})
