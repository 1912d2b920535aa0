/**
 * The backup that the server keeps up to date (`MORTISE_BACKUP_URL`). A process of its own captures the changes, so that
 * no request waits for it and a failure ends nothing else. The server starts that process again if it exits.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants, getPriority, setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import type { Archive } from '../backup/archive.ts'
import type { Captured, Capturer } from '../backup/capture.ts'
import { DAY, MINUTE } from '../clock.ts'
import { usesPostgres, type Config } from '../config.ts'
import type { BlobColumn } from '../context.ts'
import { openLog, type Log } from '../log.ts'
import { counted } from './counted.ts'
import { stopRequested } from './stop.ts'

/** In the environment of a process that works on the backup of the server: its task. */
export const BACKUP_PROCESS = 'MORTISE_BACKUP_PROCESS'

const RESTART_AFTER = 5000
const EVERY = 2000
/** PostgreSQL compares the marks of all rows for each moment. */
const POSTGRES_EVERY = 30_000
const LONGEST_PAUSE = MINUTE
const LEASE_EVERY = 5000

export interface ContinuousBackup {
  /** Captures the last changes, then ends. */
  stop(): Promise<void>
  kill(): void
}

interface Message {
  readonly config: Config
  readonly blobColumns: readonly BlobColumn[]
  /** The moment to prove. */
  readonly moment?: string
}

type Task = 'capture' | 'verify'

function startProcess(task: Task, message: Message): ChildProcess {
  const child = fork(process.argv[1]!, [], { env: { ...process.env, [BACKUP_PROCESS]: task } })
  // Sent as a message and not by the environment, which other users of the machine may read.
  child.send(message)
  return child
}

/** Null if no backup is configured, or nothing changes. */
export async function beginBackup(config: Config, log: Log): Promise<ContinuousBackup | null> {
  if (config.backupUrl === null || config.readOnly) return null
  const { blobColumns } = await import('../features/v4.ts')
  const backup = superviseBackup({ config, blobColumns }, log)
  process.once('exit', () => backup.kill())
  return backup
}

function superviseBackup(message: Message, log: Log): ContinuousBackup {
  let child: ChildProcess | null = null
  let isStopping = false
  let timer: NodeJS.Timeout | undefined
  const start = () => {
    child = startProcess('capture', message)
    child.once('exit', (code, signal) => {
      child = null
      if (isStopping) return
      log.error({ part: 'backup', status: code, signal }, 'backup process exited; restarting')
      timer = setTimeout(start, RESTART_AFTER)
    })
  }
  start()
  return {
    async stop() {
      isStopping = true
      clearTimeout(timer)
      if (!child) return
      const gone = once(child, 'exit')
      child.kill('SIGTERM')
      await gone
    },
    kill: () => child?.kill('SIGKILL'),
  }
}

/** Runs such a process. Returns its exit code. */
export async function runBackupProcess(): Promise<number> {
  process.on('SIGINT', () => {})
  const stop = stopRequested(['SIGTERM'])
  const [message] = (await once(process, 'message')) as [Message]
  // Without its server, nobody would end this process.
  process.once('disconnect', () => process.exit(1))
  // The server may have a lower priority already.
  setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL))
  const log = (await openLog(message.config.log)).child({ part: 'backup' })
  const ending = new AbortController()
  void stop.then(() => ending.abort())
  if ((process.env[BACKUP_PROCESS] as Task) === 'verify') await proveRestore(message, log)
  else await keepCapturing(message, log, ending.signal)
  process.disconnect()
  return 0
}

async function keepCapturing(message: Message, log: Log, ending: AbortSignal): Promise<void> {
  const { data } = message.config
  const { changeBackupStatus } = await import('../store/backup-status.ts')
  const { archiveFault } = await import('../backup/archive.ts')
  const rest = async (ms: number) => void (await pause(ms, undefined, { signal: ending }).catch(() => {}))
  for (let wait = EVERY; ; wait = Math.min(wait * 2, LONGEST_PAUSE)) {
    try {
      await captureUntil(message, log, ending, rest, () => (wait = EVERY))
      return
    } catch (error) {
      const reason = archiveFault(error) ?? (error as Error).message
      log.error({ err: error, reason }, 'the backup failed; trying again')
      await changeBackupStatus(data, 'captures', { error: reason }).catch(() => {})
      if (ending.aborted) return
    }
    await rest(wait)
  }
}

async function captureUntil(
  message: Message,
  log: Log,
  ending: AbortSignal,
  rest: (ms: number) => Promise<void>,
  onSuccess: () => void,
): Promise<void> {
  const { openArchive } = await import('../backup/archive.ts')
  const { openCapturer } = await import('../backup/open.ts')
  const { pruneArchive } = await import('../backup/retention.ts')
  const { config, blobColumns } = message
  const warn = (what: string) => log.warn({ what }, 'the instance is not whole')
  const archive = await openArchive(config.backupUrl!, config, { create: true })
  await using capturer = await openCapturer(config, archive, { blobColumns, warn })
  await waitForLease(capturer, archive, config, log, ending, rest)
  if (ending.aborted) return
  await capturer.prepare()
  await capturer.storeAhead()
  let pruned = 0
  let prover: ChildProcess | null = null
  try {
    for (;;) {
      const isLast = ending.aborted
      const begun = performance.now()
      // A complete moment has all numbers that a proof compares.
      const isProof = !isLast && prover === null && (await isProofDue(config))
      const captured = await captureOnce(capturer, config, isProof)
      const took = performance.now() - begun
      onSuccess()
      if (isLast) return
      if (Date.now() - pruned >= DAY) {
        await pruneArchive(archive, new Date(Date.now() - config.backupKeep * DAY))
        pruned = Date.now()
      }
      // A process of its own: captures do not wait for it, and its memory is free again afterwards.
      if (isProof) {
        prover = startProcess('verify', { ...message, moment: captured!.time })
        prover.once('exit', () => (prover = null))
      }
      const every = usesPostgres(config) ? POSTGRES_EVERY : EVERY
      // A large instance keeps the process busy for a fifth of the time at most. A complete moment, once an hour, must
      // not delay the next one.
      const isComplete = captured?.counts.rows !== undefined
      await rest(isComplete ? every : Math.max(every, took * 4))
    }
  } finally {
    prover?.kill('SIGKILL')
  }
}

/** Of several servers of an instance, one makes the backup. Another takes over soon after its end. */
async function waitForLease(
  capturer: Capturer,
  archive: Archive,
  { data }: Config,
  log: Log,
  ending: AbortSignal,
  rest: (ms: number) => Promise<void>,
): Promise<void> {
  const { changeBackupStatus, readBackupStatus } = await import('../store/backup-status.ts')
  const { newestManifest } = await import('../backup/history.ts')
  let looked = 0
  while (!(await capturer.takeLease())) {
    if (ending.aborted) return
    if (looked === 0) log.info('another process makes the backup; waiting for its end')
    if (Date.now() - looked >= MINUTE) {
      looked = Date.now()
      const time = (await newestManifest(archive))?.moments.at(-1)?.time ?? null
      // The other server may have the same data folder, and its own status there.
      if (time !== null && (await readBackupStatus(data)).captured_at !== time)
        await changeBackupStatus(data, 'captures', {
          current_at: time,
          captured_at: time,
          error: null,
          is_standby: true,
        })
    }
    await rest(LEASE_EVERY)
  }
  if (looked > 0) log.info('this server makes the backup from now on')
}

async function captureOnce(capturer: Capturer, { data }: Config, isComplete: boolean): Promise<Captured | null> {
  const { changeBackupStatus } = await import('../store/backup-status.ts')
  const begun = new Date().toISOString()
  const captured = await capturer.capture({ isComplete })
  const change = { current_at: begun, error: null, is_standby: false, ...(captured && { captured_at: captured.time }) }
  await changeBackupStatus(data, 'captures', change)
  return captured
}

/** A backup counts only if a restore of it was proven, once a day. */
async function isProofDue({ data, backupVerify }: Config): Promise<boolean> {
  const { readBackupStatus } = await import('../store/backup-status.ts')
  const { verify_begun_at: last } = await readBackupStatus(data)
  return backupVerify && (last === null || Date.now() - Date.parse(last) >= DAY)
}

async function proveRestore({ config, moment }: Message, log: Log): Promise<void> {
  const { changeBackupStatus } = await import('../store/backup-status.ts')
  const { archiveFault, openArchive } = await import('../backup/archive.ts')
  const { verifyBackup } = await import('../backup/verify.ts')
  const begun = new Date().toISOString()
  await changeBackupStatus(config.data, 'proofs', { verify_begun_at: begun })
  try {
    const archive = await openArchive(config.backupUrl!, config)
    const { time, faults } = await verifyBackup(archive, config, { at: moment === undefined ? null : new Date(moment) })
    if (faults.length > 0) throw new Error(`${counted(faults.length, 'error')}, the first: ${faults[0]}`)
    await changeBackupStatus(config.data, 'proofs', { verified_at: begun, verified_moment: time, verify_error: null })
    log.info({ moment: time }, 'a restore of the backup was proven')
  } catch (error) {
    log.error({ err: error }, 'the backup cannot be restored')
    await changeBackupStatus(config.data, 'proofs', { verify_error: archiveFault(error) ?? (error as Error).message })
  }
}
