import { CannotStart } from '../config.ts'
import { inOneLine, timeOf, summaryOf } from './backup.ts'
import { Progress } from './progress.ts'
import type { Verb } from './verb.ts'

export const restore: Verb = {
  summary: 'Bring an instance back from a backup',
  details: [
    'Restores the last moment of the backup, or the last one that is not after --at, into the data folder, which must be',
    'empty. The instance is checked as by mortise check, and appears only when everything is written. If the backup does',
    'not hold the key of the instance, MORTISE_SECRET_KEY must be that key.',
  ].join('\n'),
  words: ['SRC'],
  flags: { at: { value: 'TIME', help: 'the last moment not after this time (ISO 8601)' } },
  async run({ config, words, flags }) {
    const at = timeOf(flags.at)
    await inOneLine(async () => {
      const { openArchive } = await import('../backup/archive.ts')
      const { restore } = await import('../backup/restore.ts')
      using progress = new Progress()
      const archive = await openArchive(words[0]!, config)
      const { time, counts, faults } = await restore(archive, config, { at, progress: (text) => progress.at(text) })
      for (const fault of faults) progress.print(fault)
      if (faults.length > 0)
        throw new CannotStart(`restored ${time}, but the instance has ${faults.length} errors, which were there before`)
      progress.print(`restored ${time} to ${config.data}: ${summaryOf(counts)}, no errors`)
    })
  },
}
