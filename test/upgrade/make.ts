// Makes the fixture of a version: `node test/upgrade/make.ts <checkout> <name>` starts the server of a checkout, fills
// it, stops it and writes `<name>-sqlite.tgz`, or `<name>-postgres.tgz` under `node scripts/with-postgres.ts`.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../start/command.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { CALLS, readAll, TOKEN } from './contents.ts'

const [checkout, name] = process.argv.slice(2) as [string, string]
const server = process.env['MORTISE_TEST_DATABASE_URL']
await using folder = await temporaryFolder()
const data = join(folder.path, 'data')
mkdirSync(data)
const database = server ? await postgresDatabase(server) : null

const settings = {
  MORTISE_DATA: data,
  MORTISE_PORT: '0',
  MORTISE_SSH_PORT: 'off',
  MORTISE_ROOT_TOKEN: TOKEN,
  ...(database && { MORTISE_DATABASE_URL: database.url }),
}
const program = spawn(process.execPath, ['bin/mortise.js', 'serve'], {
  cwd: checkout,
  env: { ...process.env, ...settings },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(program, 'close')
let output = ''
const api = await new Promise<string>((resolve) =>
  program.stdout.on('data', (chunk) => {
    output += chunk
    const url = /http:\/\/[\w.:[\]]+/.exec(output)?.[0]
    if (url) resolve(`${url}/api/v4`)
  }),
)
const headers = { 'Private-Token': TOKEN, 'Content-Type': 'application/json' }
const get = async <T>(path: string) => (await (await fetch(`${api}${path}`, { headers })).json()) as T

for (const { path, body } of CALLS) {
  const given = { ...body }
  if (path === '/projects') given['namespace_id'] = (await get<{ id: number }>('/groups/tools')).id
  if (given['user_id']) given['user_id'] = (await get<[{ id: number }]>('/users?username=ann'))[0].id
  for (const [key, value] of Object.entries(given))
    if (value === 'HEAD') given[key] = (await get<{ default_branch: string }>('/projects/tools%2Fapp')).default_branch
  const tip = async () =>
    (await get<{ commit: { id: string } }>('/projects/tools%2Fapp/repository/branches/topic')).commit.id
  const at = path.includes('/topic') ? path.replace('/topic', `/${await tip()}`) : path
  const answer = await fetch(`${api}${at}`, { method: 'POST', headers, body: JSON.stringify(given) })
  process.stdout.write(`${answer.status} ${path} ${answer.ok ? '' : await answer.text()}\n`)
}
writeFileSync(join(folder.path, 'answers.json'), JSON.stringify(await readAll(api), null, 2))
program.kill('SIGTERM')
await ended
if (database) {
  const dump = execFileSync('pg_dump', ['--no-owner', '--inserts', '--rows-per-insert=100', database.url]).toString()
  // Commands of psql.
  writeFileSync(join(folder.path, 'dump.sql'), dump.replaceAll(/^\\(un)?restrict .*\n/gm, ''))
}
const file = join(import.meta.dirname, `${name}-${database ? 'postgres' : 'sqlite'}.tgz`)
execFileSync('tar', ['-C', folder.path, '-I', 'gzip -9', '-cf', file, '.'])
await database?.drop()
process.exit()
