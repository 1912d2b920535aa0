// Runs a command beside a throwaway PostgreSQL: `node scripts/with-postgres.ts vitest run`.
// The command finds its database in MORTISE_TEST_DATABASE_URL and its exit code becomes ours. The server and its
// files are gone afterwards, whether the command succeeded, failed or was interrupted.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { chown, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { constants, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

// Durability is worthless for data that lives a minute; 300 connections leave room for parallel test files.
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
  max_connections: 300,
  listen_addresses: '127.0.0.1',
}

/** The folder of initdb and its companions; Debian keeps one per major version, off PATH. */
function findBinaries(): string {
  const byMajor = new Intl.Collator('en', { numeric: true })
  const debian = globSync('/usr/lib/postgresql/*/bin').toSorted((a, b) => byMajor.compare(b, a))
  const onPath = (process.env['PATH'] ?? '').split(delimiter)
  const found = [...debian, ...onPath].find((folder) => existsSync(join(folder, 'initdb')))
  if (!found) throw new Error("PostgreSQL is not installed: install Debian's postgresql package")
  return found
}

/** PostgreSQL refuses to run as root, so root lends it the account that Debian's package made. */
async function findOwner(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const uid = Number((await run('id', ['-u', 'postgres'])).stdout)
  const gid = Number((await run('id', ['-g', 'postgres'])).stdout)
  return { uid, gid }
}

/** Each test copies a database of a thousand files: in memory it takes a tenth of the time. */
async function findRoom(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => null)
  return memory && memory.bavail * memory.bsize > 2 * 1024 ** 3 ? '/dev/shm' : tmpdir()
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free TCP port')
  return address.port
}

async function startPostgres() {
  const binaries = findBinaries()
  const owner = await findOwner()
  const port = await findFreePort()
  // Any local account reaches a loopback port, and a database superuser may run programs: hence a password.
  const password = randomBytes(16).toString('hex')

  const folder = await mkdtemp(join(await findRoom(), 'mortise-pg-'))
  const [data, log, passwordFile] = [join(folder, 'data'), join(folder, 'log'), join(folder, 'password')]
  const env = { ...process.env, PGPASSWORD: password }
  const tool = (name: string, ...args: string[]) => run(join(binaries, name), args, { cwd: folder, env, ...owner })

  async function stop() {
    try {
      if (existsSync(join(data, 'postmaster.pid'))) await tool('pg_ctl', 'stop', '-w', '-m', 'immediate', '-D', data)
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  }

  try {
    await writeFile(passwordFile, password, { mode: 0o600 })
    if (owner) for (const path of [folder, passwordFile]) await chown(path, owner.uid, owner.gid)
    const login = ['-U', 'mortise', '-A', 'password', `--pwfile=${passwordFile}`]
    await tool('initdb', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8', ...login, '-D', data)

    const options = Object.entries({ ...settings, port, unix_socket_directories: folder })
    const flags = options.map(([name, value]) => `-c ${name}=${value}`).join(' ')
    await tool('pg_ctl', 'start', '-w', '-D', data, '-l', log, '-o', flags).catch(async (cause: unknown) => {
      throw new Error(`PostgreSQL does not start:\n${await readFile(log, 'utf8').catch(String)}`, { cause })
    })
    await tool('createdb', '-h', '127.0.0.1', '-p', String(port), '-U', 'mortise', 'mortise')
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `postgres://mortise:${password}@127.0.0.1:${port}/mortise`, [Symbol.asyncDispose]: stop }
}

/** Returns the exit code as a shell would give it: 127 when there is no such command, 128 + n after signal n. */
async function main([command, ...args]: string[]): Promise<number> {
  if (!command) throw new Error('usage: node scripts/with-postgres.ts <command> [args...]')

  let child: ChildProcess | undefined
  let interrupted: NodeJS.Signals | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      interrupted = signal
      child?.kill(signal)
    })
  }

  await using postgres = await startPostgres()
  if (interrupted) return 128 + constants.signals[interrupted]

  child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, MORTISE_TEST_DATABASE_URL: postgres.url } })
  // Awaited here: a returned promise would let the database go first.
  return await new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(`with-postgres: ${error.message}`)
      resolve(127)
    })
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
  })
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(`with-postgres: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
