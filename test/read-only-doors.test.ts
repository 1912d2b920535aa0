/** Read-only mode at the other doors: git, LFS, sign-in, pages, background work, and the start. */
import { text } from 'node:stream/consumers'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { TOTP, Secret } from 'otpauth'
import ssh2 from 'ssh2'
import { describe, expect, test } from 'vitest'
import { serve } from '../src/app.ts'
import { DAY } from '../src/clock.ts'
import { findProjectById } from '../src/features/projects/projects/queries.ts'
import { repositoryDir } from '../src/features/projects/repositories/repository.ts'
import { startForge } from '../src/forge.ts'
import { dropRef } from '../src/git/refs/pointing.ts'
import { openStore } from '../src/store/open.ts'
import { Browser } from './browser.ts'
import { LfsClient, authorizationOf, objectOf } from './lfs.ts'
import { readOnlyConfig, startReadOnly } from './read-only.ts'
import { addKey, newKey, startSshForge } from './ssh.ts'
import { everything, watchTables } from './watch.ts'
import { workspace } from './workspace.ts'

const WORDS = 'read-only'
const PASSWORD = 'correct horse'

describe('git', () => {
  test('clones and fetches over HTTP; a push is told why, and moves and stores nothing', async () => {
    await using forge = await startForge()
    const ada = await forge.user()
    const project = await forge.project({}, ada)
    await forge.seed(project, { 'a.txt': 'one\n' }, { as: ada })
    await forge.settle()
    await using server = await startReadOnly(forge)
    await using work = await workspace()
    const url = `${server.url.replace('://', `://${ada.username}:${ada.token}@`)}/${project.path_with_namespace}.git`
    expect(await work.git('clone', '-q', url, 'copy')).toMatchObject({ code: 0 })
    expect(await work.git('-C', 'copy', 'fetch', url)).toMatchObject({ code: 0 })
    const refs = () => forge.git(['ls-remote', project.http_url_to_repo])
    const before = { refs: await refs(), rows: await everything(forge) }
    await work.git('-C', 'copy', 'commit', '-q', '--allow-empty', '-m', 'more')
    for (const refspec of ['HEAD:refs/heads/master', 'HEAD:refs/heads/other', ':refs/heads/master']) {
      const pushed = await work.git('-C', 'copy', 'push', url, refspec)
      expect(pushed.code).not.toBe(0)
      expect(pushed.stderr).toContain('This instance is read-only: you can fetch, but not push.')
    }
    const wiki = url.replace(/\.git$/, '.wiki.git')
    expect((await work.git('-C', 'copy', 'push', wiki, 'HEAD:refs/heads/master')).stderr).toContain(WORDS)
    expect({ rows: await everything(forge), refs: await refs() }).toEqual(before)
  })

  test('clones over SSH; a push, new codes and a new token are told why', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey()
    await addKey(ada, key)
    const project = await forge.project({}, ada)
    await forge.seed(project, { 'a.txt': 'one\n' }, { as: ada })
    await forge.settle()
    await using server = await startReadOnly(forge)
    const before = await everything(forge)
    const ask = async (line: string) => {
      const client = new ssh2.Client()
      const { promise, resolve, reject } = Promise.withResolvers<{ code: number; output: string; errors: string }>()
      client.on('error', reject).on('ready', () =>
        client.exec(line, (error, channel) => {
          if (error) return reject(error)
          const output = Promise.all([text(channel), text(channel.stderr)])
          channel.on('exit', (code: number) => {
            void output.then(([output, errors]) => resolve({ code, output, errors }))
          })
          channel.end('0000')
        }),
      )
      const { sshPort: port } = server.running.app.config
      client.connect({ host: '127.0.0.1', port: port!, username: 'git', privateKey: key.private })
      return promise.finally(() => client.end())
    }
    const path = `'${project.path_with_namespace}.git'`
    expect(await ask(`git-upload-pack ${path}`)).toMatchObject({
      code: 0,
      output: expect.stringContaining('refs/heads/master'),
    })
    for (const line of [
      `git-receive-pack ${path}`,
      `git-lfs-authenticate ${path} upload`,
      '2fa_recovery_codes',
      'personal_access_token name api',
    ]) {
      const { code, output, errors } = await ask(line)
      expect({ line, code, output, isTold: errors.includes(WORDS) }).toEqual({
        line,
        code: 1,
        output: '',
        isTold: true,
      })
    }
    expect(await everything(forge)).toEqual(before)
  })

  test('downloads LFS objects; uploads and locks are told why', async () => {
    await using forge = await startForge()
    const ada = await forge.user()
    const project = await forge.project({}, ada)
    await forge.seed(project, { 'a.txt': 'one\n' }, { as: ada })
    const [there, other] = [objectOf('there'), objectOf('other')]
    const live = new LfsClient(forge, project.path_with_namespace, authorizationOf(ada))
    await live.batch('upload', there)
    expect((await live.put(there)).status).toBe(200)
    await forge.settle()
    await using server = await startReadOnly(forge)
    const before = await everything(forge)
    const lfs = new LfsClient({ url: server.url } as typeof forge, project.path_with_namespace, authorizationOf(ada))
    expect((await lfs.batch('download', there)).body.objects[0].actions.download).toBeDefined()
    expect((await lfs.content(there)).body).toBe('there')
    expect(await lfs.get('info/lfs/locks')).toMatchObject({ status: 200, body: { locks: [] } })
    const refused = { status: 403, body: { message: expect.stringContaining(WORDS) } }
    expect(await lfs.batch('upload', other)).toMatchObject(refused)
    expect(await lfs.put(other)).toMatchObject(refused)
    expect(await lfs.post('info/lfs/locks', { path: 'a.txt' })).toMatchObject(refused)
    expect(await lfs.post('info/lfs/locks/1/unlock', {})).toMatchObject(refused)
    expect(await everything(forge)).toEqual(before)
  })
})

test('a trial merge, which a GET would create, is refused', async () => {
  await using forge = await startForge()
  const project = await forge.project()
  const { iid } = await forge.mergeRequest(project)
  const path = `/projects/${project.id}/merge_requests/${iid}/merge_ref`
  const row = await findProjectById(forge.app.db, project.id)
  await dropRef(repositoryDir(forge.app, row!), `refs/merge-requests/${iid}/merge`)
  await using server = await startReadOnly(forge)
  const caller = server.as(forge.administrator)
  const refs = () => forge.git(['ls-remote', project.http_url_to_repo, 'refs/merge-requests/*/merge'])
  expect(await caller.get(path)).toMatchObject({ status: 403, body: { message: expect.stringContaining(WORDS) } })
  expect(await refs()).toBe('')

  const { body } = await forge.administrator.get(path)
  expect(await caller.get(path)).toMatchObject({ status: 200, body })
})

describe('signing in', () => {
  test('works by password, code and OAuth, and stamps no user or token', async () => {
    await using forge = await startForge()
    const ada = await forge.user({ password: PASSWORD })
    const bob = await forge.user({ password: PASSWORD })
    const { body: factor } = await bob.post('/user/second_factor', { password: PASSWORD })
    const code = () => {
      const totp = new TOTP({ secret: Secret.fromBase32(factor.secret) })
      return totp.generate({ timestamp: forge.clock.now().getTime() })
    }
    await bob.post('/user/second_factor/confirm', { code: code() })
    const { body: token } = await ada.post('/user/personal_access_tokens', { name: 'a', scopes: ['api'] })
    await using server = await startReadOnly(forge)
    const columns = ['last_sign_in_at', 'current_sign_in_at', 'last_activity_on', 'version'] as const
    const stamps = async () => [
      await forge.app.db.selectFrom('users').select(columns).orderBy('id').execute(),
      await forge.app.db.selectFrom('access_tokens').select(['id', 'last_used_at']).orderBy('id').execute(),
    ]
    const before = await stamps()

    const browser = new Browser(server.url)
    expect((await browser.signIn(ada.username, PASSWORD)).status).toBe(303)
    expect((await browser.get('/-/csrf')).status).toBe(200)
    expect((await new Browser(server.url).signIn(ada.username, 'wrong')).status).toBe(401)

    forge.clock.advance(60_000)
    const second = new Browser(server.url)
    const asked = await second.signIn(bob.username, PASSWORD)
    expect((await second.submit(asked, { code: code() })).status).toBe(303)
    expect((await second.get('/-/csrf')).status).toBe(200)

    const form = { grant_type: 'password', username: ada.username, password: PASSWORD }
    const granted = await fetch(`${server.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    expect(granted.status).toBe(200)
    const { access_token } = (await granted.json()) as { access_token: string }
    const { body } = await server.as({ headers: { Authorization: `Bearer ${access_token}` } }).get('/user')
    expect(body.username).toBe(ada.username)
    expect((await server.as({ headers: { 'PRIVATE-TOKEN': token.token } }).get('/user')).status).toBe(200)

    const out = await browser.post('/users/sign_out', {}, { 'X-CSRF-Token': csrfIn(await browser.get('/-/csrf')) })
    expect(out.status).toBe(303)
    expect((await browser.get('/-/csrf')).status).toBe(401)
    expect(await stamps()).toEqual(before)
  })

  test('a deactivated user is told why, a blocked one as ever; other forms are refused', async () => {
    await using forge = await startForge()
    const ada = await forge.user({ password: PASSWORD })
    const bob = await forge.user({ password: PASSWORD, blocked: true })
    await forge.app.db.updateTable('users').set({ state: 'deactivated' }).where('id', '=', ada.id).execute()
    await forge.settle()
    await forge.stopWorker()
    const written = await watchTables(forge)
    await using server = await startReadOnly(forge)
    const page = await new Browser(server.url).signIn(ada.username, PASSWORD)
    expect([page.status, page.body.includes('The instance is read-only.')]).toEqual([401, true])
    expect((await server.visitor.post('/session', { login: bob.username, password: PASSWORD })).status).toBe(401)
    for (const path of ['/users/password/new', '/users/sign_up']) {
      const browser = new Browser(server.url)
      await browser.get(path)
      const answer = await browser.post(path, { email: ada.email }, { Accept: 'text/html' })
      expect([path, answer.status, answer.body.includes(WORDS)]).toEqual([path, 403, true])
    }
    const other = await fetch(`${server.url}/-/unsubscribe/x`, { method: 'POST' })
    expect([other.status, await other.text()]).toEqual([403, expect.stringContaining(WORDS)])
    expect(await written()).toEqual(['processes'])
  })
})

const csrfIn = ({ body }: { body: string }) => (JSON.parse(body) as { csrf_token: string }).csrf_token

test('pages say that the instance is read-only, offer no changes, and refuse them', async () => {
  await using forge = await startForge()
  const ada = await forge.user({ password: PASSWORD })
  const project = await forge.project({}, ada)
  await forge.issue(project, {}, ada)
  await forge.settle()
  await using server = await startReadOnly(forge)
  const signIn = await new Browser(server.url).get('/users/sign_in')
  expect(signIn.body).toContain('This instance is read-only.')
  expect((await new Browser(forge.url).get('/users/sign_in')).body).not.toContain(WORDS)

  const html = { Accept: 'text/html' }
  const [browser, live] = [new Browser(server.url), new Browser(forge.url)]
  await browser.signIn(ada.username, PASSWORD)
  await live.signIn(ada.username, PASSWORD)
  const issues = `/${project.path_with_namespace}/-/issues`
  for (const path of ['/', '/explore', issues, '/no/such/page']) {
    expect([path, (await browser.get(path, html)).body.includes('id="read-only"')]).toEqual([path, true])
    expect([path, (await live.get(path, html)).body.includes('id="read-only"')]).toEqual([path, false])
  }
  const offers = async (one: Browser) => (await one.get(issues, html)).body.includes(`${issues}/new`)
  expect([await offers(live), await offers(browser)]).toEqual([true, false])

  const before = await everything(forge)
  const csrf = csrfIn(await browser.get('/-/csrf'))
  const comment = { _action: 'comment', body: 'Hello', authenticity_token: csrf }
  const answer = await browser.post(`${issues}/1`, comment, html)
  expect([answer.status, answer.body.includes('the instance is read-only')]).toEqual([422, true])
  expect(await everything(forge)).toEqual(before)
})

test('due jobs, deliveries, mails and schedules stay where they are, and runners get no work', async () => {
  await using forge = await startForge()
  const [ada, bob] = [await forge.user(), await forge.user()]
  const project = await forge.project({ visibility: 'public' }, ada)
  const receiver = await forge.receiver()
  await ada.post(`/projects/${project.id}/hooks`, { url: receiver.url, issues_events: true })
  receiver.answer({ status: 500 })
  await forge.issue(project, {}, ada)
  await forge.settle()
  await forge.stopWorker()
  // Its mail and its deliveries wait in the outbox.
  await forge.issue(project, { title: 'due', assignee_ids: [bob.id] }, ada)
  receiver.clear()
  const before = await everything(forge)
  {
    await using server = await startReadOnly(forge, { ahead: 30 * DAY })
    await server.running.worker.settle()
    await server.running.deliverer.settle()
    server.running.app.jobs.wake()
    server.running.app.deliveries.wake()
    await server.running.worker.settle()
    await server.running.deliverer.settle()
    const refused = { status: 403, body: { message: expect.stringContaining(WORDS) } }
    expect(await server.visitor.post('/jobs/request', { token: 'x' })).toMatchObject(refused)
    expect(await server.visitor.post('/runners', { token: 'x' })).toMatchObject(refused)
    expect(server.mails).toEqual([])
  }
  expect(receiver.deliveries).toEqual([])
  expect(await everything(forge)).toEqual(before)
})

test('monitoring tells', async () => {
  await using forge = await startForge()
  await using server = await startReadOnly(forge)
  const asked = async (url: string) => {
    const readiness = await fetch(`${url}/-/readiness`)
    const metrics = await fetch(`${url}/-/metrics`, { headers: forge.administrator.headers })
    const { read_only } = (await readiness.json()) as { read_only?: boolean }
    return [readiness.status, read_only, /^mortise_read_only (\d)$/m.exec(await metrics.text())?.[1]]
  }
  expect(await asked(server.url)).toEqual([200, true, '1'])
  expect(await asked(forge.url)).toEqual([200, undefined, '0'])
})

describe('the store', () => {
  test('refuses every write that is not listed, alone and in a transaction', async () => {
    await using forge = await startForge()
    await forge.settle()
    await using server = await startReadOnly(forge)
    const before = await everything(forge)
    const { db, store } = server.running.app
    const name = { name: 'Changed' }
    const refused = '403 Forbidden - the instance is read-only'
    await expect(db.updateTable('users').set(name).execute()).rejects.toThrow(refused)
    await expect(store.relaxed.deleteFrom('settings').execute()).rejects.toThrow(refused)
    await expect(db.deleteFrom('jobs').execute()).rejects.toThrow(refused)
    const mixed = db.transaction().execute(async (db) => {
      await db.deleteFrom('sessions').execute()
      await db.updateTable('users').set(name).execute()
    })
    await expect(mixed).rejects.toThrow(refused)
    expect(await everything(forge)).toEqual(before)
  })

  test('is not created', async () => {
    await using forge = await startForge()
    const file = join(forge.app.config.data, 'none.sqlite')
    const options = { durable: false, shared: false, poolSize: 2, readOnly: true }
    await expect(openStore(`sqlite:${file}`, options)).rejects.toThrow('unable to open database file')
    expect(existsSync(file)).toBe(false)
  })
})

describe('the start', () => {
  const quick = { durable: false, heartbeat: false }

  test('is refused where there is no instance, and makes no folder', async () => {
    await using forge = await startForge()
    const data = join(forge.app.config.data, 'none')
    const config = { ...readOnlyConfig(forge), data, databaseUrl: null }
    await expect(serve(config, quick)).rejects.toThrow(`${data} holds no instance`)
    expect(existsSync(data)).toBe(false)
  })

  test('is refused while migrations are pending', async () => {
    await using forge = await startForge()
    const { db } = forge.app
    const history = db.withTables<{ kysely_migration: { name: string; timestamp: string } }>()
    const { name } = await history
      .selectFrom('kysely_migration')
      .select('name')
      .orderBy('name', 'desc')
      .executeTakeFirstOrThrow()
    await history.deleteFrom('kysely_migration').where('name', '=', name).execute()
    const line = 'the database needs migrations: run mortise migrate first, or start without --read-only'
    await expect(serve(readOnlyConfig(forge), quick)).rejects.toThrow(line)

    const later = [name, '999-later'].map((name) => ({ name, timestamp: '' }))
    await history.insertInto('kysely_migration').values(later).execute()
    await expect(serve(readOnlyConfig(forge), quick)).rejects.toThrow('a newer version of Mortise has changed it')
  })
})
