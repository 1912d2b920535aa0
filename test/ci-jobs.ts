/** CI jobs as a server hands them over, and a folder to run them in. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import type { ArtifactDoor, Upload } from '../src/ci/agent/artifacts.ts'
import { executeJob, type ExecuteOptions } from '../src/ci/agent/execute.ts'
import { JobLog } from '../src/ci/agent/job-log.ts'
import { jobSchema, type JobInput } from '../src/ci/agent/job.ts'
import { sharedEnvironment } from '../src/ci/agent/processes.ts'
import { shellExecutor } from '../src/ci/agent/shell.ts'
import { TEMPORARY_FOLDER } from '../src/lib/files/temporary-folder.ts'
import { writeFile } from 'node:fs/promises'

export const JOB_TOKEN = 'job-token-0123456789'

export const variable = (
  key: string,
  value: string,
  more: Partial<NonNullable<JobInput['variables']>[number]> = {},
) => ({
  key,
  value,
  public: true,
  file: false,
  masked: false,
  raw: false,
  ...more,
})

/** Without git, unless it is given. */
export function jobOf(script: string[], more: Partial<JobInput> = {}): JobInput {
  return {
    id: 1,
    token: JOB_TOKEN,
    git_info: { repo_url: 'http://127.0.0.1:9/group/project.git', ref: 'master', sha: '0'.repeat(40) },
    steps: [{ name: 'script', script, when: 'on_success' }],
    ...more,
    variables: [...(more.git_info ? [] : [variable('GIT_STRATEGY', 'empty')]), ...(more.variables ?? [])],
  }
}

export interface Sent {
  readonly filename: string
  readonly type: string
  readonly format: string
  readonly expireIn: string
  readonly bytes: Buffer
}

export interface JobWorkspace extends AsyncDisposable {
  readonly folder: string
  readonly sent: Sent[]
  /** Archives of dependencies, by the id of their job. */
  readonly stored: Map<number, Buffer>
  run(job: JobInput, more?: Partial<ExecuteOptions> & { limit?: number }): Promise<Ran>
}

export interface Ran {
  readonly result: Awaited<ReturnType<typeof executeJob>>
  readonly log: string
  /** The log without colours and section markers. */
  readonly text: string
}

export async function jobWorkspace(): Promise<JobWorkspace> {
  const folder = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-ci-'))
  const sent: Sent[] = []
  const stored = new Map<number, Buffer>()
  const artifacts: ArtifactDoor = {
    async download({ id }, file) {
      await writeFile(file, stored.get(id)!)
    },
    async upload({ filename, type, format, expireIn, content }: Upload) {
      sent.push({ filename, type, format, expireIn, bytes: await buffer(Readable.from(content())) })
    },
  }
  let runs = 0
  return {
    folder,
    sent,
    stored,
    async run(job, { limit, ...more } = {}) {
      const file = join(folder, `log-${runs++}`)
      await using log = await JobLog.open(file, limit === undefined ? {} : { limit })
      const result = await executeJob(jobSchema.parse(job), {
        executor: shellExecutor,
        folder: join(folder, 'slot-0'),
        cacheFolder: join(folder, 'cache'),
        slot: 0,
        log,
        artifacts,
        environment: sharedEnvironment(process.env),
        ...more,
      })
      const text = await readFile(file, 'utf8')
      return { result, log: text, text: plain(text) }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

// oxlint-disable-next-line no-control-regex
export const plain = (log: string) => log.replace(/section_\w+:\d+:\w+\r\x1b\[0K|\x1b\[[0-9;]*[mK]/g, '')
