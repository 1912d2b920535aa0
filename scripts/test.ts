// `npm test -- identity/tokens` runs vitest. If an argument names a family or a context, the tests that call every
// endpoint run too, for its endpoints only.
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname } from 'node:path'

const TABLES = ['test/roles.test.ts', 'test/security-generated.test.ts', 'test/limits-generated.test.ts']
TABLES.push('src/api/scopes.test.ts')

const args = process.argv.slice(2)
const families = globSync('**/cases.ts', { cwd: 'src/features' }).map(dirname)
const named = args.map((arg) => arg.replace(/^(\.\/)?(src\/features\/)?/, '').replace(/\/$/, ''))
const chosen = families.filter((family) => named.some((name) => `${family}/`.startsWith(`${name}/`)))
const tables = chosen.length > 0 ? [...TABLES, '--passWithNoTests'] : []
const env = { ...process.env, ...(chosen.length > 0 && { MORTISE_TEST_FAMILIES: chosen.join() }) }

const vitest = spawn('vitest', ['run', ...args, ...tables], { stdio: 'inherit', env })
// Ctrl-C reaches the whole process group, so it is ignored here. SIGTERM may reach this process alone and ends the run.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => vitest.kill())
vitest.on('exit', (code) => (process.exitCode = code ?? 1))
