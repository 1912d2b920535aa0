import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmod, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import ssh2, { type ParsedKey } from 'ssh2'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { workspace } from '../workspace.ts'
import { Child, MAIN, run, temporaryFolder, until } from './command.ts'

const HOST_KEY = /^SSH host key: SHA256:[\w+/]{43} \((ED25519|RSA)\)$/
const TIMEOUT = 180_000
const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'

test(
  'the first start tells how to sign in, later ones only the address and the host keys',
  { timeout: TIMEOUT },
  async () => {
    await using folder = await temporaryFolder()
    const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_SSH_PORT: '0' }
    let password: string
    let hostKeys: string[]
    {
      await using first = new Child([], settings)
      const url = await first.url()
      await until(() => first.stdout.includes('(RSA)'))
      password = /password \(shown only once\): (\S+)/.exec(first.stdout)![1]!
      expect(first.lines.plain).toEqual([
        `Mortise is listening on ${url}`,
        `Administrator account: root, password (shown only once): ${password}`,
        `Try: curl --data login=root --data-urlencode password=${password} ${url}/api/v4/session`,
        expect.stringMatching(HOST_KEY),
        expect.stringMatching(HOST_KEY),
      ])
      hostKeys = first.lines.plain.slice(-2)
      for (const [n, kind] of ['ed25519', 'rsa'].entries()) {
        const key = ssh2.utils.parseKey(await readFile(join(folder.path, 'ssh', `ssh_host_${kind}_key`))) as ParsedKey
        const digest = createHash('sha256').update(key.getPublicSSH()).digest('base64').replace('=', '')
        expect(hostKeys[n]).toBe(`SSH host key: SHA256:${digest} (${kind.toUpperCase()})`)
      }
      const answer = await fetch(`${url}/api/v4/session`, {
        method: 'POST',
        body: new URLSearchParams({ login: 'root', password }),
      })
      expect(answer.status).toBe(201)
      first.process.kill('SIGTERM')
      expect(await first.ended()).toBe(0)
      expect(JSON.stringify(first.lines.logged)).not.toContain(password)
    }
    await using second = new Child(['serve'], settings)
    expect(second.lines.plain.join()).not.toContain('root')
    const url = await second.url()
    second.process.kill('SIGINT')
    expect(await second.ended()).toBe(0)
    expect(second.lines.plain).toEqual([`Mortise is listening on ${url}`, ...hostKeys])
  },
)

test('chosen secrets are not printed, and the token opens the API', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const settings = {
    MORTISE_DATA: folder.path,
    MORTISE_PORT: '0',
    MORTISE_ROOT_TOKEN,
    MORTISE_ROOT_PASSWORD: 'chosen by me',
  }
  await using command = new Child(['serve'], settings)
  const url = await command.url()
  const answer = await fetch(`${url}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN } })
  expect(answer.status).toBe(200)
  await until(() => command.stdout.includes('curl'))
  expect(command.stdout).toContain(`curl --header "PRIVATE-TOKEN: $MORTISE_ROOT_TOKEN" ${url}/api/v4/user`)
  expect(command.stdout).not.toContain(MORTISE_ROOT_TOKEN)
  expect(command.stdout).not.toContain('chosen by me')
})

test('what stops a start is told in one line', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const MORTISE_DATA = folder.path
  const refused = (line: string) => ({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(`^mortise: ${line}[^\n]*\n$`),
  })

  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  const MORTISE_PORT = String((blocker.address() as AddressInfo).port)
  const inUse = refused('cannot listen on \\S+: listen EADDRINUSE: address already in use')
  expect(await run(['serve'], { MORTISE_DATA, MORTISE_PORT, MORTISE_LOG: 'silent' })).toMatchObject({
    code: 1,
    stderr: inUse.stderr,
  })
  expect(await run(['serve'], { MORTISE_DATA, MORTISE_PORT, MORTISE_WORKERS: '2' })).toEqual(inUse)
  blocker.close()

  const file = join(MORTISE_DATA, 'file')
  await writeFile(file, '')
  expect(await run(['serve'], { MORTISE_DATA: join(file, 'inside') })).toEqual(
    refused('the data folder \\S+ cannot be used: ENOTDIR'),
  )
  expect(await run(['serve'], { MORTISE_DATA: '/proc/mortise/data' })).toEqual(
    refused('the data folder /proc/mortise/data cannot be used: ENOENT'),
  )
  expect(await run(['serve'], { MORTISE_DATA, MORTISE_STORAGES: 'fast=/proc/mortise' })).toEqual(
    refused('the storage /proc/mortise cannot be used: ENOENT'),
  )
  expect(await run(['serve', '--url', 'http://127.0.0.1:8080/forge'], { MORTISE_DATA })).toEqual(
    refused('MORTISE_URL \\(--url\\) must have no path'),
  )
  const MORTISE_DATABASE_URL = 'postgres://someone:secret@127.0.0.1:1/none'
  expect(await run(['serve'], { MORTISE_DATA, MORTISE_DATABASE_URL })).toEqual(
    refused('the database cannot be used: connect ECONNREFUSED'),
  )

  const store = await openStore(join(MORTISE_DATA, 'mortise.sqlite'), { durable: false, shared: true, poolSize: 1 })
  await sql`insert into kysely_migration (name, timestamp) values ('999-future', '2099-01-01')`.execute(store.db)
  await store.close()
  const newer = refused('the database \\S+ cannot be used: a newer version of Mortise has changed it')
  expect(await run(['serve'], { MORTISE_DATA })).toEqual(newer)
  expect(await run(['user', 'list'], { MORTISE_DATA })).toEqual(newer)
})

test.each([
  ['1', 'MORTISE_PORT'],
  ['1', 'MORTISE_SSH_PORT'],
  ['2', 'MORTISE_SSH_PORT'],
] as const)(
  'a first start that finds its port taken makes no administrator: with MORTISE_WORKERS=%s, %s',
  { timeout: TIMEOUT },
  async (MORTISE_WORKERS, name) => {
    await using folder = await temporaryFolder()
    const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_WORKERS }
    const blocker = createServer().listen(0, '127.0.0.1')
    await once(blocker, 'listening')
    const taken = String((blocker.address() as AddressInfo).port)
    expect(await run(['serve'], { ...settings, [name]: taken })).toMatchObject({
      code: 1,
      stdout: expect.not.stringContaining('Administrator'),
      stderr: expect.stringMatching(/^mortise: cannot listen on [^\n]+EADDRINUSE[^\n]+\n$/),
    })
    blocker.close()
    await using second = new Child(['serve'], settings)
    await second.url()
    await until(() => second.stdout.includes('password (shown only once): '))
  },
)

/** A request whose end is held back: it runs until `finish`. */
async function openRequest(url: string): Promise<{ finish(): Promise<string>; socket: Socket }> {
  const body = JSON.stringify({ username: 'late', name: 'Late', email: 'late@example.com', password: 'long enough' })
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const head = [
    'POST /api/v4/users HTTP/1.1',
    `Host: ${hostname}:${port}`,
    `PRIVATE-TOKEN: ${MORTISE_ROOT_TOKEN}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  let answer = ''
  socket.on('data', (chunk) => (answer += chunk))
  // The server sends this once it has started with the request.
  await until(() => answer.includes('100 Continue'))
  return {
    socket,
    async finish() {
      socket.write(body)
      await until(() => answer.includes('"username"') || socket.destroyed)
      return answer.replace(/^HTTP\/1.1 100 Continue\s+/, '')
    },
  }
}

const refusesConnections = async (url: string) => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const [event] = await Promise.race([
    once(socket, 'connect').then(() => ['connect']),
    new Promise<string[]>((resolve) => socket.once('error', () => resolve(['error']))),
  ])
  socket.destroy()
  return event === 'error'
}

test.each(['1', '2'])(
  'SIGTERM lets a running request finish, with MORTISE_WORKERS=%s',
  { timeout: TIMEOUT },
  async (MORTISE_WORKERS) => {
    await using folder = await temporaryFolder()
    await using command = new Child(['serve'], {
      MORTISE_DATA: folder.path,
      MORTISE_PORT: '0',
      MORTISE_ROOT_TOKEN,
      MORTISE_WORKERS,
    })
    const url = await command.url()
    // Left open by the client, as every connection pool does.
    await (await fetch(`${url}/-/liveness`)).text()
    const request = await openRequest(url)

    command.process.kill('SIGTERM')
    await until(() => refusesConnections(url))
    command.process.kill('SIGTERM') // the same signal again, as a launcher forwards it
    expect(await request.finish()).toMatch(/^HTTP\/1.1 201 Created/)
    expect(await command.ended()).toBe(0)
    expect(command.stderr).toBe('')

    const store = await openStore(join(folder.path, 'mortise.sqlite'), { durable: false, shared: true, poolSize: 1 })
    const { rows } = await sql`select username from users order by id`.execute(store.db)
    await store.close()
    expect(rows).toEqual([{ username: 'root' }, { username: 'late' }])
  },
)

test('SIGTERM to npm start ends the server, however npm passes it on', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0' } as const
  await using npm = new Child(['start'], settings, '', ['npm'])
  const url = await npm.url()
  npm.process.kill('SIGTERM')
  // The server keeps npm's pipes open.
  await npm.ended()
  expect(await refusesConnections(url)).toBe(true)
})

test('on an old Node, a killed wrapper takes the server with it', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0' }
  // As bin/mortise.js sees an old Node: it starts the packaged one, which does not have this flag.
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0', napi: '9' } })`
  const program = [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(old)}`, MAIN]
  await using child = new Child(['serve'], settings, '', program)
  const url = await child.url()
  expect(await refusesConnections(url)).toBe(false)
  child.process.kill('SIGKILL')
  await until(() => refusesConnections(url))
})

test('who asks again later is not made to wait', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  await using command = new Child(['serve'], { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_ROOT_TOKEN })
  const url = await command.url()
  const { socket } = await openRequest(url)
  command.process.kill('SIGINT')
  await until(() => refusesConnections(url))
  await until(() => {
    command.process.kill('SIGINT')
    return command.process.exitCode !== null || command.process.signalCode !== null
  })
  expect(await command.ended()).toBe(1)
  expect(command.stderr).toBe('mortise: interrupted twice, stopped without waiting\n')
  socket.destroy()
})

test('the key and the folder are readable by their owner only', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const MORTISE_DATA = join(folder.path, 'data')
  await run(['migrate', '--create'], { MORTISE_DATA })
  expect((await stat(MORTISE_DATA)).mode & 0o777).toBe(0o700)
  expect((await stat(join(MORTISE_DATA, 'secret.key'))).mode & 0o777).toBe(0o600)
  expect(await readFile(join(MORTISE_DATA, 'secret.key'), 'utf8')).toMatch(/^[0-9a-f]{64}$/)
})

test.each([1, 2])(
  'so is all that is ever made in it, with MORTISE_WORKERS=%i',
  { timeout: TIMEOUT },
  async (workers) => {
    await using folder = await temporaryFolder()
    await using work = await workspace()
    // Created by another program, and readable by all.
    await chmod(folder.path, 0o755)
    const settings = {
      MORTISE_DATA: folder.path,
      MORTISE_PORT: '0',
      MORTISE_SSH_PORT: '0',
      MORTISE_ROOT_TOKEN,
      MORTISE_WORKERS: String(workers),
    }
    await using command = new Child(['serve'], settings)
    const url = await command.url()
    const headers = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN }
    const made = await fetch(`${url}/api/v4/projects`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ path: 'engine', initialize_with_readme: 'true' }),
    })
    expect(made.status).toBe(201)
    const form = new FormData()
    form.set('file', new Blob(['content']), 'a.txt')
    const sent = await fetch(`${url}/api/v4/projects/root%2Fengine/uploads`, { method: 'POST', headers, body: form })
    expect(sent.status).toBe(201)
    await work.git('init', '-q', '-b', 'topic', 'src')
    await work.git('-C', 'src', 'commit', '-qm', 'First', '--allow-empty')
    const address = `${url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`)}/root/engine.git`
    expect(await work.git('-C', 'src', 'push', address, 'topic')).toMatchObject({ code: 0 })
    await until(() => command.stdout.includes('(RSA)'))

    const names = await readdir(folder.path, { recursive: true })
    for (const kind of ['mortise.sqlite', /\.pack$/, /^blobs\/.+/, /^ssh\//, /\/refs\/heads\/topic$/]) {
      expect(names).toContainEqual(expect.stringMatching(kind))
    }
    const modes = await Promise.all(names.map((name) => stat(join(folder.path, name)).catch(() => null)))
    expect(names.filter((_, n) => modes[n] && modes[n].mode & 0o077)).toEqual([])
  },
)

test('a server on all addresses, without SSH, names addresses that can be reached', { timeout: TIMEOUT }, async () => {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_HOST: '0.0.0.0', MORTISE_ROOT_TOKEN }
  await using command = new Child(['serve'], { ...settings, MORTISE_SSH_PORT: 'off' })
  const url = await command.url()
  expect(url).toMatch(/^http:\/\/localhost:\d+$/)
  await until(() => command.stdout.includes('set MORTISE_URL (--url)'))
  const headers = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ name: 'engine' })
  const made = await fetch(`${url}/api/v4/projects`, { method: 'POST', headers, body })
  expect(await made.json()).toMatchObject({
    ssh_url_to_repo: '',
    http_url_to_repo: `${url}/root/engine.git`,
    web_url: `${url}/root/engine`,
  })
  const page = await (await fetch(`${url}/root/engine`, { headers })).text()
  expect(page).toContain(`${url}/root/engine.git`)
  expect(page).not.toMatch(/ssh:\/\/|git@/)
})
