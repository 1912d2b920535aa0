import { job, type App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { GitFailed } from '../../../git/process/command.ts'
import { mirrorFrom, type Credentials } from '../../../git/storage/remote.ts'
import { AddressRefused, resolvePublic } from '../../../outbound/guard.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { provisionRepository, reportProgress } from '../repositories/provisioning.ts'
import type { Project } from '../projects/queries.ts'
import { IMPORT_JOB, guardFor } from './service.ts'

const MEGABYTE = 1024 * 1024
const TELL_MS = 1000

/** Runs once, without retries: the user sees the error and may start the import again. */
export const importRepository = job<{ id: number }>(
  IMPORT_JOB.name,
  (app, { id }, ending) =>
    provisionRepository(app, id, ending, {
      fill: (project, dir, signal) => fetchInto(app, project, dir, signal),
      explain,
    }),
  { long: true },
)

async function fetchInto(app: App, project: Project, dir: string, signal: AbortSignal): Promise<void> {
  const { import_url: url, import_credentials_sealed: sealed } = project
  if (url === null) return
  const { max_import_size } = await currentSettings(app)
  // Resolves the name again and connects to exactly this address, because the name may have changed since the check of
  // the request.
  const resolved = await resolvePublic(url, await guardFor(app))
  await mirrorFrom(url, dir, {
    resolved,
    credentials: sealed === null ? null : (JSON.parse(app.vault.open(sealed)) as Credentials),
    ...(max_import_size > 0 && { maxBytes: max_import_size * MEGABYTE }),
    signal,
    onProgress: nowAndThen((percent) => reportProgress(app, project, percent).catch(() => {})),
  })
}

function nowAndThen(tell: (percent: number) => Promise<void>): (percent: number) => void {
  let last = -Infinity
  return (percent) => {
    if (performance.now() - last < TELL_MS) return
    last = performance.now()
    void tell(percent)
  }
}

/**
 * Translates git's messages about remote servers. The original text may contain URLs and secrets, so it goes only to
 * the log.
 */
const MESSAGES: [RegExp, string][] = [
  [
    /authentication failed|could not read (username|password)|returned error: 40[13]/i,
    'The server rejected the credentials',
  ],
  [/not found|returned error: 404|not exported/i, 'The repository was not found'],
  [/redirect|returned error: 30\d/i, 'The server redirects to another URL: import from that URL'],
  [/timed out|too slow|transferring at/i, 'The server took too long to respond'],
  [
    /could not connect|failed to connect|connection refused|unable to connect|resolve host/i,
    'The server cannot be reached',
  ],
  [/fsck|error in (blob|tree|commit|tag)|bad object|invalid index-pack|unpack/i, 'The repository is damaged'],
]

const FAILED = 'The repository could not be fetched'

function explain(error: unknown): string {
  if (error instanceof AddressRefused) return error.message
  if (error instanceof Refusal) return error.message
  if (!(error instanceof GitFailed)) return FAILED
  if (error.reason === 'deadline') return 'The import took too long'
  return MESSAGES.find(([words]) => words.test(error.stderr))?.[1] ?? FAILED
}
