import { readFile, readdir, stat } from 'node:fs/promises'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Secret, TOTP } from 'otpauth'
import ssh2 from 'ssh2'
import { describe, expect, test } from 'vitest'
import { fillProject } from '../../test/contents.ts'
import { addKey, newKey, sshPortOf as portOf, startSshForge } from '../../test/ssh.ts'
import { DAY } from '../clock.ts'
import { startForge, type TestForge } from '../forge.ts'
import { digestOf } from '../lib/crypto/secrets.ts'
import { startSsh } from './ssh.ts'

interface Message {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

type ClientOptions = ssh2.ConnectConfig & { env?: Record<string, string>; input?: string }

/** Sends one command with a test client that sends exactly what it is told. */
async function ask(forge: TestForge, key: { private: string }, line: string | null, more: ClientOptions = {}) {
  const client = new ssh2.Client()
  const { env, input = '', ...options } = more
  const { promise, resolve, reject } = Promise.withResolvers<Message>()
  client.on('error', reject).on('close', () => reject(new Error('closed')))
  client.on('ready', () => {
    const onChannel = (error: Error | undefined, channel: ssh2.ClientChannel) => {
      if (error) return reject(error)
      const output = text(channel)
      const errors = text(channel.stderr)
      let code: number | null = null
      channel.on('exit', (given: number) => (code = given))
      channel.on('close', () => {
        void Promise.all([output, errors]).then(([output, errors]) => resolve({ code, output, errors }))
      })
      channel.end(input)
    }
    if (line === null) client.shell(false, onChannel)
    else client.exec(line, { ...(env && { env }) }, onChannel)
  })
  client.connect({ host: '127.0.0.1', port: portOf(forge), username: 'git', privateKey: key.private, ...options })
  try {
    return await promise
  } finally {
    client.end()
  }
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: Error) => error.message,
  )
const UNKNOWN = 'All configured authentication methods failed'

describe('who comes', () => {
  test('is refused from more addresses than they may come from', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey()
    await addKey(ada, key)
    await forge.administrator.put('/application/settings', {
      unique_ips_limit_enabled: true,
      unique_ips_limit_per_user: 1,
    })
    const now = forge.clock.now().toISOString()
    const elsewhere = { user_id: ada.id, address: '203.0.113.1', since: now, seen_at: now }
    await forge.app.db.insertInto('user_addresses').values(elsewhere).execute()
    expect(await ask(forge, key, null)).toMatchObject({
      code: 1,
      output: '',
      errors: expect.stringContaining('Your account is in use from too many IP addresses.'),
    })
    await forge.app.db.deleteFrom('user_addresses').execute()
    expect(await ask(forge, key, null)).toMatchObject({ code: 0 })
  })

  test('is known by a key: a user, greeted by name, or a deploy key', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user({ name: 'Ada Lovelace' })
    for (const kind of ['ed25519', 'rsa', 'ecdsa'] as const) {
      const key = await newKey(kind)
      await addKey(ada, key)
      const greeting = { code: 0, output: 'Welcome to Mortise, Ada Lovelace!\n', errors: '' }
      expect([kind, await ask(forge, key, null)]).toEqual([kind, greeting])
    }
    const project = await forge.project({}, ada)
    const robot = await newKey()
    await ada.post(`/projects/${project.id}/deploy_keys`, { title: 'robot', key: robot.public })
    expect((await ask(forge, robot, null)).output).toBe('Welcome to Mortise, Anonymous!\n')
  })

  test('security 18: by nothing but a key that signs', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user({ username: 'ada', password: 'correct horse' })
    const [own, other] = [await newKey(), await newKey()]
    await addKey(ada, own)

    expect(await failureOf(ask(forge, other, null))).toBe(UNKNOWN)
    expect(await failureOf(ask(forge, own, null, { username: 'root' }))).toBe(UNKNOWN)
    for (const username of ['git', 'ada']) {
      const password = { password: 'correct horse', username, privateKey: undefined as never, tryKeyboard: true }
      expect(await failureOf(ask(forge, own, null, password))).toBe(UNKNOWN)
    }
    // Offers a known key and signs with another; then tries without a key.
    const known = ssh2.utils.parseKey(own.public) as ssh2.ParsedKey
    const wrong = ssh2.utils.parseKey(other.private) as ssh2.ParsedKey
    class Impostor extends ssh2.BaseAgent {
      override getIdentities(done: (error: undefined, keys: ssh2.ParsedKey[]) => void) {
        done(undefined, [known])
      }
      override sign(_key: unknown, data: Buffer, ...more: unknown[]) {
        const done = more.at(-1) as (error: undefined, signature: Buffer) => void
        done(undefined, wrong.sign(data) as Buffer)
      }
    }
    const agent = new Impostor() as never
    const authHandler = ['agent', 'none', 'password'] as never
    const lying = { privateKey: undefined as never, agent, authHandler, password: 'x' }
    expect(await failureOf(ask(forge, own, null, lying))).toBe(UNKNOWN)
    expect((await ask(forge, own, null)).code).toBe(0)
  })

  test('not by a key that is over, for signing only, or of somebody blocked', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const [signing, expiring] = [await newKey(), await newKey()]
    await addKey(ada, signing, { usage_type: 'signing' })
    await addKey(ada, expiring, { expires_at: new Date(forge.clock.now().getTime() + DAY).toISOString() })
    expect(await failureOf(ask(forge, signing, null))).toBe(UNKNOWN)
    expect((await ask(forge, expiring, null)).code).toBe(0)
    forge.clock.advance(2 * DAY)
    expect(await failureOf(ask(forge, expiring, null))).toBe(UNKNOWN)

    const key = await newKey()
    await addKey(ada, key)
    await forge.administrator.post(`/users/${ada.id}/block`)
    expect(await failureOf(ask(forge, key, null))).toBe(UNKNOWN)
  })

  test('is asked again for every command, and the use of the key is noted once a day', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey('rsa')
    const id = await addKey(ada, key)
    const usedAt = async () => (await ada.get(`/user/keys/${id}`)).body.last_used_at
    expect(await usedAt()).toBeNull()
    await ask(forge, key, null)
    const first = await usedAt()
    expect(first).not.toBeNull()
    forge.clock.advance(DAY / 2)
    await ask(forge, key, null)
    expect(await usedAt()).toBe(first)
    forge.clock.advance(DAY)
    await ask(forge, key, null)
    expect(await usedAt()).not.toBe(first)

    await forge.administrator.put('/application/settings', { rsa_key_restriction: 4096 })
    const errors = 'Mortise: Your SSH key must be at least 4096 bits.\n'
    expect(await ask(forge, key, null)).toEqual({ code: 1, output: '', errors })
  })
})

describe('what they ask for', () => {
  test('is one of a few verbs', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey()
    await addKey(ada, key)
    for (const line of ['ls', 'git-shell', 'git-upload-pack', "sh -c 'id'", 'git-upload-pack a b c'])
      expect(await ask(forge, key, line)).toEqual({ code: 1, output: '', errors: 'Mortise: Disallowed command\n' })
    const unknown =
      "Mortise: The project you were looking for could not be found or you don't have permission to view it.\n"
    for (const path of ['nobody/nothing.git', '../../etc/passwd', '$(id)/x'])
      expect(await ask(forge, key, `git-upload-pack '${path}'`)).toEqual({ code: 1, output: '', errors: unknown })
  })

  test('is no terminal, no file transfer and no way further', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey()
    await addKey(ada, key)
    const client = new ssh2.Client()
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
    client.on('ready', resolve).on('error', reject)
    client.connect({ host: '127.0.0.1', port: portOf(forge), username: 'git', privateKey: key.private })
    await ready
    type Done = (error?: Error) => void
    const refused = (ask: (done: Done) => unknown) =>
      new Promise<boolean>((answered) => ask((error) => answered(error !== undefined)))
    expect(await refused((done) => client.sftp(done as never))).toBe(true)
    expect(await refused((done) => client.subsys('netconf', done as never))).toBe(true)
    expect(await refused((done) => client.shell({ term: 'xterm' }, done as never))).toBe(true)
    expect(await refused((done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', 22, done as never))).toBe(true)
    expect(await refused((done) => client.forwardIn('127.0.0.1', 0, done as never))).toBe(true)
    client.end()
  })

  test('GIT_PROTOCOL is the only variable that counts', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey()
    await addKey(ada, key)
    const { id, path_with_namespace: path } = await forge.project({}, ada)
    await fillProject(forge, id)
    const outputWith = async (env?: Record<string, string>) =>
      (await ask(forge, key, `git-upload-pack '${path}.git'`, env ? { env } : {})).output
    expect(await outputWith()).toContain('refs/heads/master')
    expect(await outputWith({ GIT_PROTOCOL: 'version=2' })).toMatch(/^000eversion 2\n/)
    expect(await outputWith({ GIT_TRACE: '1', GIT_DIR: '/', PATH: '/' })).toContain('refs/heads/master')
  })
})

describe('limits', () => {
  test('security 46: little time to prove a key', async () => {
    await using forge = await startSshForge()
    const app = { ...forge.app, config: { ...forge.app.config, sshPort: 0 } }
    await using server = (await startSsh({ app }, { loginGrace: 300 }))!
    for (const words of ['', 'SSH-2.0-x\r\n']) {
      const socket = connect(server.port, '127.0.0.1')
      const started = performance.now()
      socket.write(words)
      socket.resume()
      await new Promise((resolve) => socket.once('close', resolve))
      expect(performance.now() - started).toBeGreaterThan(200)
    }
  })

  test('few at a time who have proven nothing, and few tries', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey()
    await addKey(ada, key)
    const app = { ...forge.app, config: { ...forge.app.config, sshPort: 0 } }
    await using server = (await startSsh({ app }, { unprovenOfOne: 2, tries: 2 }))!
    const near = { port: server.port }
    const idle = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')]
    await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once('data', resolve))))
    expect(await failureOf(ask(forge, key, null, near))).not.toBe('none')
    await Promise.all(
      idle.map((socket) => {
        const closed = new Promise((resolve) => socket.once('close', resolve))
        socket.destroy()
        return closed
      }),
    )
    await expect.poll(() => failureOf(ask(forge, key, null, near))).toBe('none')

    const tries: string[] = []
    const stubborn = {
      ...near,
      authHandler: ((_left: unknown, _partial: unknown, next: (method: unknown) => void) => {
        tries.push('try')
        next(tries.length < 9 ? { type: 'password', username: 'git', password: 'x' } : false)
      }) as never,
    }
    expect(await failureOf(ask(forge, key, null, stubborn))).not.toBe('none')
    expect(tries.length).toBeLessThan(4)
  })
})

/** A client in the middle of a fetch: it has received the refs and not sent its request yet. */
async function startFetch(key: { private: string }, port: number, path: string) {
  const client = new ssh2.Client()
  const { promise, resolve, reject } = Promise.withResolvers<ssh2.ClientChannel>()
  client.on('error', reject).on('ready', () => {
    client.exec(`git-upload-pack '${path}.git'`, (error, channel) => (error ? reject(error) : resolve(channel)))
  })
  client.connect({ host: '127.0.0.1', port, username: 'git', privateKey: key.private })
  const channel = await promise
  await new Promise((resolve) => channel.once('data', resolve))
  return { client, channel }
}

/** Connects as if from another machine: all of 127.0.0.0/8 is this one. */
async function idleFrom(address: string, port: number) {
  const socket = connect({ port, host: '127.0.0.1', localAddress: address })
  socket.on('error', () => {})
  await Promise.race([once(socket, 'data'), once(socket, 'close')])
  return socket
}

describe('who comes late', () => {
  async function stage(request: Parameters<typeof startSsh>[1]) {
    const forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey()
    await addKey(ada, key)
    const app = { ...forge.app, config: { ...forge.app.config, sshPort: 0 } }
    const server = (await startSsh({ app }, request))!
    return {
      forge,
      key,
      port: server.port,
      asks: () => failureOf(ask(forge, key, null, { port: server.port })),
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]()
        await forge[Symbol.asyncDispose]()
      },
    }
  }

  test('finds room, however many sit idle at a few other addresses', async () => {
    await using at = await stage({})
    const idle: Socket[] = []
    for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']) {
      for (let n = 0; n < 30; n++) idle.push(await idleFrom(address, at.port))
    }
    expect(await at.asks()).toBe('none')
    // Each closed connection made space for the next, and only as many as needed were closed.
    expect(idle.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(90)
    for (const socket of idle) socket.destroy()
  })

  test('finds room where all connections are taken and some sit idle; who works is left alone', async () => {
    await using at = await stage({ connections: 3, connectionsOfOne: 3 })
    const { id, path_with_namespace: path } = await at.forge.project({}, await at.forge.user())
    await at.forge.administrator.put(`/projects/${id}`, { visibility: 'public' })
    await fillProject(at.forge, id)
    const { client, channel } = await startFetch(at.key, at.port, path)
    const idle = [await idleFrom('127.0.0.2', at.port), await idleFrom('127.0.0.2', at.port)]
    expect(await at.asks()).toBe('none')
    expect(idle.map(({ destroyed }) => destroyed)).toEqual([true, false])
    const code = new Promise((resolve) => channel.once('exit', resolve))
    channel.end('0000')
    expect(await code).toBe(0)
    client.end()
    for (const socket of idle) socket.destroy()
  })

  test('finds none behind an address that has all it may have', async () => {
    await using at = await stage({ connectionsOfOne: 2 })
    const { id, path_with_namespace: path } = await at.forge.project({ visibility: 'public' }, await at.forge.user())
    await fillProject(at.forge, id)
    const busy = [await startFetch(at.key, at.port, path), await startFetch(at.key, at.port, path)]
    expect(await at.asks()).not.toBe('none')
    for (const { client } of busy) client.end()
    await expect.poll(at.asks).toBe('none')
  })
})

describe('the end', () => {
  test('waits for who is busy, and for nobody else', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey()
    await addKey(ada, key)
    const { id, path_with_namespace: path } = await forge.project({}, ada)
    await fillProject(forge, id)
    const app = { ...forge.app, config: { ...forge.app.config, sshPort: 0 } }
    const server = (await startSsh({ app }))!
    const { client, channel } = await startFetch(key, server.port, path)
    const idle = connect(server.port, '127.0.0.1')
    await new Promise((resolve) => idle.once('data', resolve))
    const idleClosed = new Promise((resolve) => idle.once('close', resolve))

    let isClosed = false
    const closing = server[Symbol.asyncDispose]().then(() => (isClosed = true))
    await idleClosed
    expect(await failureOf(ask(forge, key, null, { port: server.port }))).toContain('ECONNREFUSED')
    expect(isClosed).toBe(false)
    const code = new Promise((resolve) => channel.once('exit', resolve))
    channel.end('0000')
    expect(await code).toBe(0)
    await closing
    client.end()
  })

  test('of a client ends its command', async () => {
    await using forge = await startSshForge()
    const ada = await forge.user()
    const key = await newKey()
    await addKey(ada, key)
    const { id, path_with_namespace: path } = await forge.project({}, ada)
    await fillProject(forge, id)
    const app = { ...forge.app, config: { ...forge.app.config, sshPort: 0 } }
    const server = (await startSsh({ app }))!
    const { client } = await startFetch(key, server.port, path)
    client.destroy()
    // Closing would wait for a running command.
    await expect(server[Symbol.asyncDispose]()).resolves.toBeUndefined()
  })
})

test('the host keys are made once, for nobody else to read', async () => {
  await using forge = await startForge({ settings: { SSH_PORT: '0' } })
  const ada = await forge.user()
  const key = await newKey()
  await addKey(ada, key)
  const fingerprints: string[] = []
  const hostVerifier = (blob: Buffer) => fingerprints.push(blob.toString('hex')) > 0
  await ask(forge, key, null, { hostVerifier })
  const folder = join(forge.app.config.data, 'ssh')
  const names = ['ssh_host_ed25519_key', 'ssh_host_rsa_key']
  expect((await readdir(folder)).toSorted()).toEqual(names)
  for (const name of names) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
  const before = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))

  const app = { ...forge.app, config: { ...forge.app.config, sshPort: 0 } }
  await using again = (await startSsh({ app }))!
  await ask(forge, key, null, { hostVerifier, port: again.port })
  expect(await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).toEqual(before)
  expect(fingerprints[1]).toBe(fingerprints[0])
})

test('a forge without SSH starts none', async () => {
  await using forge = await startForge({ settings: { SSH_PORT: 'off' } })
  expect(await startSsh({ app: forge.app })).toBeNull()
})

test('git-lfs-authenticate hands over to HTTP', async () => {
  await using forge = await startSshForge()
  const ada = await forge.user({ username: 'ada' })
  const key = await newKey()
  await addKey(ada, key)
  const project = await forge.project({ path: 'tower' }, ada)
  const { code, output } = await ask(forge, key, 'git-lfs-authenticate ada/tower.git upload')
  const { header, href, expires_in } = JSON.parse(output)
  expect([code, href, expires_in]).toEqual([0, `${forge.url}/ada/tower.git/info/lfs/`, 7200])
  const answer = await fetch(`${href}locks`, { headers: { ...header, Accept: 'application/vnd.git-lfs+json' } })
  expect(answer.status).toBe(200)

  await ada.put(`/projects/${project.id}`, { lfs_enabled: false })
  const errors = 'Mortise: Git LFS is not enabled for this project.\n'
  expect(await ask(forge, key, 'git-lfs-authenticate ada/tower.git download')).toEqual({ code: 1, output: '', errors })
  const stranger = await forge.user()
  const other = await newKey()
  await addKey(stranger, other)
  expect((await ask(forge, other, 'git-lfs-authenticate ada/tower.git download')).code).toBe(1)
})

test('2fa_recovery_codes creates new codes after confirmation, for users with two-factor authentication', async () => {
  await using forge = await startSshForge()
  const jane = await forge.user({ password: 'correct-horse-battery' })
  const key = await newKey()
  await addKey(jane, key)
  const codes = () => forge.app.db.selectFrom('recovery_codes').select('secret_digest').execute()
  const without = await ask(forge, key, '2fa_recovery_codes', { input: 'yes\n' })
  expect(without).toMatchObject({ code: 1, errors: expect.stringContaining('is not enabled for this user') })
  expect(await codes()).toEqual([])

  const { secret } = (await jane.post('/user/second_factor', { password: 'correct-horse-battery' })).body
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: forge.clock.now().getTime() })
  expect((await jane.post('/user/second_factor/confirm', { code })).status).toBe(201)
  const before = await codes()
  for (const input of ['no\n', '', 'yes please\n'])
    expect(await ask(forge, key, '2fa_recovery_codes', { input })).toMatchObject({
      code: 0,
      output: expect.stringContaining('have *not* been generated'),
    })
  expect(await codes()).toEqual(before)
  const { code: exit, output } = await ask(forge, key, '2fa_recovery_codes', { input: 'yes\n' })
  const made = output.match(/^[a-z2-9]{16}$/gm)!
  expect([exit, made.length]).toEqual([0, 10])
  const digests = new Set((await codes()).map(({ secret_digest }) => secret_digest))
  expect(digests).toEqual(new Set(made.map(digestOf)))
})

test('discover tells who one is, personal_access_token makes a token that works', async () => {
  await using forge = await startSshForge()
  const jane = await forge.user()
  const key = await newKey()
  await addKey(jane, key)
  expect((await ask(forge, key, 'discover')).output).toContain('Welcome to Mortise')
  const tokens = async () => (await jane.get('/personal_access_tokens')).body as { name: string; scopes: string[] }[]
  for (const words of ['', 'mine', 'mine sudo', 'mine api x', 'mine api 0', 'mine api 1 more', 'mine api,nothing'])
    expect((await ask(forge, key, `personal_access_token ${words}`)).code, words).toBe(1)
  expect(await tokens()).toEqual([])
  const { code, output } = await ask(forge, key, "personal_access_token 'my token' read_user,read_api 7")
  const [, secret, scopes] = /^Token: {3}(\S+)\nScopes: {2}(\S+)\nExpires: \d{4}-\d\d-\d\d\n$/.exec(output)!
  expect([code, scopes]).toEqual([0, 'read_user,read_api'])
  expect(await tokens()).toMatchObject([{ name: 'my token' }])
  expect((await forge.as({ 'PRIVATE-TOKEN': secret! }).get('/user')).body.username).toBe(jane.username)
})

test('each command is a line of the log and a number of the metrics', async () => {
  const lines: Record<string, unknown>[] = []
  await using forge = await startSshForge({ logTo: { write: (line) => void lines.push(JSON.parse(line)) } })
  const [key, jane] = [await newKey(), await forge.user()]
  await addKey(jane, key)
  const project = await forge.project({ path: 'saw' }, jane)
  const path = `${project.path_with_namespace}.git`
  for (const line of [null, `git-upload-pack '${path}'`, "git-upload-pack 'no/where.git'", 'rm -rf /']) {
    await ask(forge, key, line)
  }
  const entry = { level: 30, part: 'ssh', user: jane.username, ip: '127.0.0.1', ms: expect.any(Number) }
  expect(lines.filter(({ msg }) => msg === 'ssh command')).toMatchObject([
    { ...entry, verb: 'shell', path: null, exit: 0 },
    { ...entry, verb: 'upload-pack', path },
    { ...entry, verb: 'upload-pack', path: 'no/where.git', exit: 1 },
    { ...entry, verb: 'unknown', path: null, exit: 1 },
  ])
  const headers = { 'PRIVATE-TOKEN': forge.administrator.token }
  const metrics = await (await fetch(`${forge.url}/-/metrics`, { headers })).text()
  expect(metrics).toMatch(/^mortise_ssh_commands_total\{verb="shell",outcome="done"\} 1$/m)
  expect(metrics).toMatch(/^mortise_ssh_commands_total\{verb="unknown",outcome="failed"\} 1$/m)
  expect(metrics).toMatch(/^mortise_ssh_connections \d+$/m)
  expect(metrics).toMatch(/^mortise_git_processes \d+$/m)
  expect(metrics).toMatch(/^mortise_git_processes_started_total [1-9]\d*$/m)
  expect(metrics).toMatch(/^mortise_build_info\{version="\d+\.\d+\.\d+[^"]*"\} 1$/m)
  for (const folder of ['data', 'default']) {
    expect(metrics).toMatch(new RegExp(`^mortise_disk_free_bytes\\{folder="${folder}"\\} [1-9]`, 'm'))
  }
})
