import type { OnlyOptions } from '../backup/only/only.ts'
import { CannotStart, type Config } from '../config.ts'
import { inOneLine, timeOf, summaryOf } from './backup.ts'
import { counted } from './counted.ts'
import { Progress } from './progress.ts'
import { Misuse, type Verb } from './verb.ts'

export const restore: Verb = {
  summary: 'Bring an instance back from a backup',
  details: [
    'Restores the last moment of the backup, or the last one that is not after --at, into the data folder, which must be',
    'empty. The instance is checked as by mortise check, and appears only when everything is written. If the backup does',
    'not hold the key of the instance, MORTISE_SECRET_KEY must be that key.',
    '',
    'With --only, one project, or a group with everything in it, comes back into the existing instance of the backup,',
    'beside what lives there. The server must be stopped. If the path is taken by now, --as gives another one.',
  ].join('\n'),
  words: ['SRC'],
  flags: {
    at: { value: 'TIME', help: 'the last moment not after this time (ISO 8601)' },
    only: { value: 'GROUP/PROJECT', help: 'one project or group, into an instance that is stopped' },
    as: { value: 'GROUP/NAME', help: 'with --only: another path in the same group' },
  },
  async run({ config, words, flags }) {
    const at = timeOf(flags.at)
    const { only, as = null } = flags
    if (as !== null && only === undefined) throw new Misuse('--as needs --only')
    if (only !== undefined) return inOneLine(() => restorePart(words[0]!, config, { at, only, as }))
    await inOneLine(async () => {
      const { openArchive } = await import('../backup/archive.ts')
      const { restore } = await import('../backup/restore.ts')
      using progress = new Progress()
      const archive = await openArchive(words[0]!, config)
      const { time, counts, faults } = await restore(archive, config, { at, progress: (text) => progress.at(text) })
      for (const fault of faults) progress.print(fault)
      if (faults.length > 0)
        throw new CannotStart(`restored ${time}, but the instance has errors that were there before: ${faults.length}`)
      progress.print(`restored ${time} to ${config.data}: ${summaryOf(counts)}, no errors`)
    })
  },
}

async function restorePart(source: string, config: Config, options: OnlyOptions): Promise<void> {
  const { openArchive } = await import('../backup/archive.ts')
  const { restoreOnly } = await import('../backup/only/only.ts')
  using progress = new Progress()
  const archive = await openArchive(source, config)
  const restored = await restoreOnly(archive, config, { ...options, progress: (text) => progress.at(text) })
  const { time, kind, path, rows, leftOut, refs, files, faults } = restored
  for (const [table, n] of Object.entries(leftOut))
    progress.print(`left out: ${counted(n, 'row')} of ${table}, whose users or records no longer exist`)
  for (const fault of faults) progress.print(fault)
  if (faults.length > 0)
    throw new CannotStart(`restored ${path} as of ${time}, but it has errors that were there before: ${faults.length}`)
  const records = COUNTED.map(([table, one]) => counted(rows[table] ?? 0, one))
  const summary = [...records, counted(refs, 'ref'), counted(files, 'file')].join(', ')
  progress.print(`restored the ${kind} ${path} as of ${time}: ${summary}, no errors`)
}

const COUNTED = [
  ['projects', 'project'],
  ['issues', 'issue'],
  ['merge_requests', 'merge request'],
  ['pipelines', 'pipeline'],
] as const
