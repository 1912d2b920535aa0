import type { CaptureOptions, Captured } from '../backup/capture.ts'
import { DAY } from '../clock.ts'
import { CannotStart, type Config } from '../config.ts'
import { counted } from './counted.ts'
import { Progress } from './progress.ts'
import { stopRequested } from './stop.ts'
import { Misuse, numberOf, required, type Verb } from './verb.ts'

const store: Verb = {
  summary: 'Store a backup of the instance in a folder or bucket',
  details: [
    'DEST is a folder outside the data folder, or a bucket: s3://bucket/prefix?endpoint=…&region=…',
    'The server can keep running. Only what DEST does not have yet is stored, also after an interrupted backup.',
    'With --every, the command stays in the foreground and captures the changes, until SIGTERM.',
    '',
    'The key of the instance is not part of the backup, unless --with-key is given: with the key and the backup, all',
    'stored secrets can be read. Keep the key in another place; mortise restore needs it.',
  ].join('\n'),
  words: ['DEST'],
  flags: {
    every: { value: 'SPAN', help: 'capture changes again and again, for example every 10s' },
    'with-key': { help: 'also store the key of the instance' },
  },
  async run({ config, words, flags, switches }) {
    const every = flags.every === undefined ? null : millisecondsOf(flags.every)
    const withKey = switches['with-key'] ?? false
    await inOneLine(() => captureTo(words[0]!, config, { every, withKey }))
  },
}

const verify: Verb = {
  summary: 'Prove that a backup can be restored',
  details: 'Restores the last moment, or the one of --at, into a temporary folder, checks it and compares the counts.',
  words: ['SRC'],
  flags: { at: { value: 'TIME', help: 'the last moment not after this time (ISO 8601)' } },
  async run({ config, words, flags }) {
    const at = timeOf(flags.at)
    return inOneLine(async () => {
      const { openArchive } = await import('../backup/archive.ts')
      const { verifyBackup } = await import('../backup/verify.ts')
      using progress = new Progress()
      const archive = await openArchive(words[0]!, config)
      const { time, counts, faults } = await verifyBackup(archive, config, {
        at,
        progress: (text) => progress.at(text),
      })
      for (const fault of faults) progress.print(fault)
      if (faults.length > 0)
        throw new CannotStart(`the backup of ${time} cannot be trusted: ${counted(faults.length, 'error')}`)
      progress.print(`restored ${time} into a temporary folder: ${summaryOf(counts)}, no errors`)
    })
  },
}

const MOST_DAYS = 36_500

const prune: Verb = {
  summary: 'Remove old moments of a backup',
  details: 'The server does this itself for its own backup (MORTISE_BACKUP_KEEP). The newest backup always stays.',
  words: ['DEST'],
  flags: { keep: { value: 'DAYS', help: 'keep the moments of so many days' } },
  async run(call) {
    required(call, 'keep')
    const days = numberOf(call, 'keep', { least: 1, most: MOST_DAYS, otherwise: 0 })
    await inOneLine(async () => {
      const { openArchive } = await import('../backup/archive.ts')
      const { leaseArchive } = await import('../backup/open.ts')
      const { pruneArchive } = await import('../backup/retention.ts')
      const archive = await openArchive(call.words[0]!, call.config)
      await using _ = await leaseArchive(call.config, archive)
      const { manifests, objects } = await pruneArchive(archive, new Date(Date.now() - days * DAY))
      console.log(`removed ${counted(manifests, 'manifest')} and ${counted(objects, 'object')}`)
    })
  },
}

export const backup: Record<string, Verb> = { backup: store, 'backup verify': verify, 'backup prune': prune }

interface Plan extends Pick<CaptureOptions, 'withKey'> {
  /** Milliseconds between two captures; null: one capture. */
  readonly every: number | null
}

async function captureTo(dest: string, config: Config, { every, withKey = false }: Plan): Promise<void> {
  const { openArchive } = await import('../backup/archive.ts')
  const { assertInstance, openCapturer } = await import('../backup/open.ts')
  assertInstance(config)
  using progress = new Progress()
  const archive = await openArchive(dest, config, { create: true })
  const warn = (text: string) => console.error(`mortise: ${text}`)
  const { blobColumns } = await import('../features/v4.ts')
  const options = { blobColumns, withKey, warn, progress: (text: string) => progress.at(text) }
  await using capturer = await openCapturer(config, archive, options)
  await capturer.prepare()
  await capturer.storeAhead()
  const show = (captured: Captured | null) => {
    if (captured) progress.print(`${captured.time}: ${summaryOf(captured.counts)} in ${captured.manifest}`)
  }
  show(await capturer.capture())
  progress.print(
    withKey
      ? 'the key of the instance is part of this backup: keep the backup as secret as the key'
      : 'the key of the instance is not part of this backup: keep it in another place',
  )
  if (every === null) return
  const stop = stopRequested()
  while (!(await isStopped(stop, every))) show(await capturer.capture())
  show(await capturer.capture())
}

const STOPPED = Symbol('stopped')

async function isStopped(stop: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const pause = new Promise((resolve) => (timer = setTimeout(resolve, ms)))
  const first = await Promise.race([pause, stop.then(() => STOPPED)])
  clearTimeout(timer)
  return first === STOPPED
}

export const summaryOf = ({ rows, repositories, refs, blobs }: Captured['counts']): string =>
  [
    ...(rows
      ? [
          counted(
            Object.values(rows).reduce((sum, n) => sum + n, 0),
            'row',
          ),
        ]
      : []),
    `${counted(repositories, 'repository', 'repositories')} with ${counted(refs, 'ref')}`,
    counted(blobs, 'file'),
  ].join(', ')

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 }

function millisecondsOf(text: string): number {
  const [, number, unit] = /^(\d{1,6})([smh])$/.exec(text) ?? []
  if (unit === undefined || Number(number) === 0) throw new Misuse('--every must look like 10s, 5m or 1h')
  return Number(number) * UNITS[unit]!
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/

export function timeOf(text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = new Date(text)
  if (!ISO.test(text) || Number.isNaN(time.getTime()))
    throw new Misuse('--at must be a time with its zone, such as 2026-11-20T09:30:00Z')
  return time
}

/** Problems of the archive are reported in one line. */
export async function inOneLine(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const { archiveFault } = await import('../backup/archive.ts')
    const fault = archiveFault(error)
    if (fault === null) throw error
    throw new CannotStart(fault, { cause: error })
  }
}
