// Kills servers at random moments: `npm run trials -- [--trials 500] [--seed 1] [--store sqlite|postgres] [--report
// FILE]`. Prints a table of the kinds of work and what became of them. `--report` writes a line for each trial.
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '500' },
    seed: { type: 'string', default: '1' },
    store: { type: 'string', default: 'sqlite' },
    report: { type: 'string' },
  },
})
if (!['sqlite', 'postgres'].includes(values.store)) throw new Error('--store is sqlite or postgres')

const vitest = ['vitest', 'run', 'test/start/kill-trials.test.ts']
const command = values.store === 'postgres' ? [process.execPath, 'scripts/with-postgres.ts', ...vitest] : vitest
const env = {
  ...process.env,
  MORTISE_KILL_TRIALS: values.trials,
  MORTISE_KILL_SEED: values.seed,
  ...(values.report && { MORTISE_KILL_REPORT: values.report }),
}
const child = spawn(command[0]!, command.slice(1), { stdio: 'inherit', env })
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill())
child.on('exit', (code) => (process.exitCode = code ?? 1))
