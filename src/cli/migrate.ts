import { CannotStart, type Config } from '../config.ts'
import { counted } from './counted.ts'
import { loadProgram } from './instance.ts'
import { Misuse, type Verb } from './verb.ts'

export const migrate: Verb = {
  summary: 'Apply database migrations; serve does this automatically',
  details: [
    'With --check, the pending migrations run on a copy of the database, and their times are printed. Nothing else',
    'changes, and the server can keep running. The copy needs twice the size of the database beside it; on PostgreSQL,',
    'the user needs the right to create a database.',
    '',
    'With --back, the migrations that the last release does not have are taken back, so that it can start again; with',
    'NAME, this migration and all that were applied after it. Stop the server first.',
  ].join('\n'),
  rest: 'NAME',
  flags: {
    create: { help: 'create a new instance if none exists, as serve does' },
    check: { help: 'only try the migrations, on a copy' },
    back: { help: 'take migrations back' },
    yes: { help: 'with --back: accept that data is lost' },
  },
  async run({ config, words, switches: { create = false, check = false, back = false, yes = false } }) {
    if (Number(create) + Number(check) + Number(back) > 1)
      throw new Misuse('--create, --check and --back exclude each other')
    if (yes && !back) throw new Misuse('--yes is only for --back')
    if (words.length > (back ? 1 : 0)) throw new Misuse(`unexpected argument: ${words.at(-1)}`)
    if (check) return rehearse(config)
    if (back) return takeBack(config, words[0] ?? null, yes)
    const { openApp } = await loadProgram()
    // A read-only instance is started after this command.
    await using opened = await openApp({ ...config, readOnly: false }, { logTo: process.stderr, mustExist: !create })
    for (const name of opened.applied) console.log(`applied ${name}`)
    if (opened.applied.length === 0) console.log(UP_TO_DATE)
  },
}

const UP_TO_DATE = 'database is up to date'

async function rehearse(config: Config): Promise<void> {
  const { rehearseMigrations } = await import('../backup/rehearsal.ts')
  const start = performance.now()
  let whole = 0
  const names = await rehearseMigrations(config, (name, ms) => {
    whole += ms
    console.log(`would apply ${name}: ${timeOf(ms)} on a copy`)
  })
  if (names.length === 0) return console.log(UP_TO_DATE)
  const all = `${counted(names.length, 'migration takes', 'migrations take')} ${timeOf(whole)}`
  console.log(`${all}, the whole check took ${timeOf(performance.now() - start)}. Nothing was changed`)
}

const timeOf = (ms: number) => (ms < 1000 ? `${Math.ceil(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

async function takeBack(config: Config, first: string | null, yes: boolean): Promise<void> {
  const { openExisting } = await import('../backup/existing.ts')
  const { stepsBack, takeBack } = await import('../store/back.ts')
  const { assertAlone } = await import('../jobs/processes.ts')
  await using opened = await openExisting(config)
  const steps = await stepsBack(opened.store, first)
  if (steps.length === 0) return console.log('nothing to take back')
  await assertAlone(opened.store.db)
  const losses = steps.filter(({ lost }) => lost !== null)
  for (const { name, lost } of losses) console.log(`${name} loses ${lost}`)
  if (losses.length > 0 && !yes)
    throw new CannotStart('nothing was changed: run the command with --yes to accept the loss')
  await takeBack(opened.store, steps)
  for (const { name } of steps) console.log(`took back ${name}`)
}
