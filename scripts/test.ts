// `npm test -- identity/tokens`: vitest, and with a family or a context that is named the tables that ask its endpoints.
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
// Interrupts reach the whole group; whoever ends this process alone means the run.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => vitest.kill())
vitest.on('exit', (code) => (process.exitCode = code ?? 1))
