/** Pipelines for tests, and jobs that run without a runner. */
import type { TestForge } from '../src/forge.ts'
import { unique, type Stage } from './cases.ts'
import { zipOf } from '../src/lib/zip/writer.ts'
import type { Job } from '../src/features/ci/jobs/model.ts'
import { dropJob, runJob, succeedJob } from '../src/features/ci/jobs/transitions.ts'

export const CONFIG = `
stages: [build, test, deploy]
compile: { stage: build, script: make, artifacts: { paths: [out] } }
check: { stage: test, script: make check }
lint: { stage: test, script: make lint, allow_failure: true }
ship: { stage: deploy, script: make ship, when: manual }
`

/** The newest job with this name. */
export async function findJobByName(forge: TestForge, name: string, project?: number): Promise<Job> {
  return forge.app.db
    .selectFrom('ci_jobs')
    .selectAll()
    .where('name', '=', name)
    .$if(project !== undefined, (query) => query.where('project_id', '=', project!))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
}

export interface Ran {
  readonly log?: string
  readonly files?: Readonly<Record<string, string>>
  readonly fails?: { reason: string; exit_code?: number }
  readonly isLeftRunning?: boolean
}

/** Acts as a runner: takes the job, logs, uploads files, and reports the result. */
export async function runJobByName(forge: TestForge, name: string, { log, files, fails, isLeftRunning }: Ran = {}) {
  const { app } = forge
  const taken = await runJob(app, await findJobByName(forge, name), { runner_id: null })
  if (!taken) throw new Error(`${name} cannot be run`)
  if (log !== undefined) await writeLog(forge, taken.id, log)
  if (files) await keepFiles(forge, taken, files)
  const now = await findJobByName(forge, name)
  if (isLeftRunning) return now
  if (fails) await dropJob(app, now, fails)
  else await succeedJob(app, now)
  return findJobByName(forge, name)
}

export async function writeLog({ app }: TestForge, job_id: number, log: string): Promise<void> {
  const content = Buffer.from(log)
  await app.db.insertInto('ci_trace_chunks').values({ job_id, start: 0, content }).execute()
  await app.db.updateTable('ci_jobs').set({ trace_size: content.length }).where('id', '=', job_id).execute()
}

export async function keepFiles(
  { app }: TestForge,
  { id, project_id }: Pick<Job, 'id' | 'project_id'>,
  files: Readonly<Record<string, string>>,
  more: { file_type?: string; file_format?: 'zip' | 'gzip' | 'raw'; expire_at?: string | null } = {},
): Promise<void> {
  const { file_type = 'archive', file_format = 'zip', expire_at = null } = more
  const content = file_format === 'zip' ? await zipped(files) : Buffer.from(Object.values(files).join(''))
  const { digest, size } = await app.blobs.put(content)
  await app.db
    .insertInto('ci_artifacts')
    .values({
      job_id: id,
      project_id,
      file_type,
      file_format,
      filename: file_type === 'archive' ? 'artifacts.zip' : `${file_type}.xml`,
      size,
      digest,
      expire_at,
      created_at: new Date().toISOString(),
    })
    .execute()
}

export async function zipped(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const inputs = Object.entries(files).map(([name, text]) => ({
    name,
    mode: 0o100644,
    mtime: new Date(0),
    size: Buffer.byteLength(text),
    content: async function* () {
      yield Buffer.from(text)
    },
  }))
  const chunks: Buffer[] = []
  for await (const chunk of zipOf(inputs)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** A new branch in the stage's project, with a pipeline. */
export async function pipelineOn(s: Stage, config = CONFIG): Promise<{ pipeline_id: number; ref: string }> {
  const branch = unique('ci')
  await s.make(`/projects/${s.project.id}/repository/commits`, {
    branch,
    start_branch: 'master',
    commit_message: 'Run it',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: config }],
  })
  const { body } = await s.owner.get(`/projects/${s.project.id}/pipelines`, { ref: branch })
  return { pipeline_id: body[0].id, ref: branch }
}

/** A job of such a pipeline, run by default. */
export async function jobOn(
  s: Stage,
  ran: Ran | null = { log: 'done', files: { 'a.txt': 'hello' } },
  name = 'compile',
) {
  const { pipeline_id, ref } = await pipelineOn(s)
  const job = ran ? await runJobByName(s.forge, name, ran) : await findJobByName(s.forge, name)
  return { pipeline_id, job_id: job.id, ref_name: ref }
}
