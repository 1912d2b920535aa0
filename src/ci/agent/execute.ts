/** Runs one job from start to end, with the same stages as the reference runner. */
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { arch, hostname, platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { VERSION } from '../../version.ts'
import { downloadArtifacts, uploadArtifacts, type ArtifactDoor } from './artifacts.ts'
import { isDue, restoreCache, saveCache } from './caches.ts'
import type { BuildFolder } from './collecting.ts'
import { pauseOf, TRIES_WHILE_AWAY } from './connection.ts'
import type { Executor, OpenExecutor } from './executor.ts'
import { JobFailed, type Artifact, type Job, type JobResult } from './job.ts'
import type { JobLog } from './job-log.ts'
import { JobScripts, LONGEST_TIMER, tookTooLong } from './job-scripts.ts'
import { makeMark, type Environment } from './processes.ts'
import { GREEN, RED, RESET, Sections } from './sections.ts'
import { removeFolder } from './shell.ts'
import { copySources, getSources, trackedFiles, type SourcesJob } from './sources.ts'
import { Variables } from './variables.ts'
import { credentialOf, workspaceOf, type Workspace } from './workspace.ts'

export interface ExecuteOptions {
  readonly executor: Executor
  /** The folder of the job's slot. One job at a time uses it, and the next job finds the files of the previous one. */
  readonly folder: string
  /** The folder for the caches of this project. */
  readonly cacheFolder: string
  readonly slot: number
  readonly log: JobLog
  readonly artifacts: ArtifactDoor
  /** The environment variables of the machine that jobs get. */
  readonly environment: Environment
  /** Ends the job at once. The reason of the signal says why. */
  readonly signal?: AbortSignal
  /** Ends only the script. The stages after a failure still run. */
  readonly cancel?: AbortSignal
  /** A working copy to use instead of fetching with git. */
  readonly workingCopy?: string
  /** The name of the runner in the log. */
  readonly description?: string
  readonly shortToken?: string
  /** How often to retry fetching sources while the server is unavailable. */
  readonly triesWhileAway?: number
}

/** Reasons of the signal that ends a job. */
export const CANCELED = 'canceled'
export const INTERRUPTED = 'interrupted'
const TIMED_OUT = 'timed out'

const DEFAULT_TIMEOUT_S = 7200
const MOST_ATTEMPTS = 10

export async function executeJob(job: Job, options: ExecuteOptions): Promise<JobResult> {
  const timeoutMs = (job.runner_info.timeout || DEFAULT_TIMEOUT_S) * 1000
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(TIMED_OUT), Math.min(timeoutMs, LONGEST_TIMER))
  const signal = AbortSignal.any([deadline.signal, ...(options.signal ? [options.signal] : [])])
  const { log } = options
  const { repo_url: url } = job.git_info
  let hasBegun = false
  const secrets = [job.token, ...job.credentials.map(({ password }) => password)]
  secrets.push(credentialOf(url).password, credentialOf(url).encoded)
  try {
    log.hide({ secrets, prefixes: job.features.token_mask_prefixes })
    await log.write(`Running with mortise-runner ${VERSION}\n`)
    if (options.description) await log.write(`  on ${options.description} ${options.shortToken ?? ''}\n`)
    const run = await JobRun.open(job, options, { signal, timeoutMs, secrets })
    try {
      await run.all()
    } finally {
      hasBegun = run.hasBegun
      await run.close()
    }
    await log.flush()
    await log.write(`${GREEN}Job succeeded${RESET}\n`)
    return { state: 'success' }
  } catch (error) {
    const failure = failureOf(error, { signal, cancel: options.cancel, timeoutMs })
    await log.flush()
    await log.write(`${RED}ERROR: Job failed: ${failure.message}${RESET}\n`)
    await log.flush()
    const isGivenBack = !hasBegun && (failure.isTemporary || signal.reason === INTERRUPTED)
    return {
      state: 'failed',
      failureReason: reasonFor(job, failure),
      ...(isGivenBack && { isGivenBack }),
      ...(failure.exitCode === undefined ? {} : { exitCode: failure.exitCode }),
    }
  } finally {
    clearTimeout(timer)
  }
}

function failureOf(
  error: unknown,
  { signal, cancel, timeoutMs }: { signal: AbortSignal; cancel: AbortSignal | undefined; timeoutMs: number },
): JobFailed {
  if (signal.reason === TIMED_OUT) return tookTooLong(timeoutMs)
  if (signal.reason === INTERRUPTED) return new JobFailed('runner_interrupted', 'the runner stops')
  if (signal.aborted || cancel?.aborted) return new JobFailed('unknown_failure', 'canceled')
  if (error instanceof JobFailed) return error
  const message = error instanceof Error ? error.message : String(error)
  return new JobFailed('runner_system_failure', message, { cause: error })
}

/** Reasons that every server knows are sent without checking the server's list. */
function reasonFor({ features }: Job, { reason }: JobFailed): JobResult['failureReason'] {
  const known = ['script_failure', 'runner_system_failure', 'job_execution_timeout', 'unknown_failure']
  return known.includes(reason) || features.failure_reasons.includes(reason) ? reason : 'runner_system_failure'
}

class JobRun {
  readonly #job: Job
  readonly #options: ExecuteOptions
  readonly #signal: AbortSignal
  readonly #variables: Variables
  readonly #workspace: Workspace
  readonly #executor: OpenExecutor
  readonly #mark: string
  readonly #sections: Sections
  readonly #scripts: JobScripts
  #tracked: ReadonlySet<string> = new Set()
  #hasBegun = false

  private constructor(
    job: Job,
    options: ExecuteOptions,
    opened: {
      signal: AbortSignal
      variables: Variables
      workspace: Workspace
      executor: OpenExecutor
      mark: string
      sections: Sections
    },
  ) {
    this.#job = job
    this.#options = options
    this.#signal = opened.signal
    this.#variables = opened.variables
    this.#workspace = opened.workspace
    this.#executor = opened.executor
    this.#mark = opened.mark
    this.#sections = opened.sections
    this.#scripts = new JobScripts({
      job,
      ...opened,
      log: options.log,
      cancel: options.cancel,
      exitWord: options.executor.exitWord,
    })
  }

  static async open(
    job: Job,
    options: ExecuteOptions,
    { signal, timeoutMs, secrets }: { signal: AbortSignal; timeoutMs: number; secrets: string[] },
  ): Promise<JobRun> {
    if (job.run !== undefined) throw new JobFailed('runner_system_failure', 'this runner knows no native steps')
    const [foreign] = Object.keys(job.secrets)
    if (foreign !== undefined)
      throw new JobFailed('runner_system_failure', `this runner reaches no services for secrets (${foreign})`)
    const { executor, folder, log, environment } = options
    const location = {
      folder,
      repoUrl: job.git_info.repo_url,
      ...(executor.mountedAt ? { mountedAt: executor.mountedAt } : {}),
    }
    const plain = workspaceOf(location)!
    const variables = new Variables(job.variables, plain.seen.temporary)
    variables.set('CI_BUILDS_DIR', plain.seen.builds)
    variables.set('CI_CONCURRENT_ID', String(options.slot))
    variables.set('CI_CONCURRENT_PROJECT_ID', String(options.slot))
    const workspace = workspaceOf({ ...location, clonePath: variables.get('GIT_CLONE_PATH') })
    if (!workspace)
      throw new JobFailed('runner_configuration_error', `GIT_CLONE_PATH has to be within ${plain.seen.builds}`)
    setOwnVariables(variables, { job, options, workspace, timeoutMs })
    await log.flush()
    log.hide({ secrets: [...secrets, ...variables.secrets()], prefixes: job.features.token_mask_prefixes })

    await removeFolder(workspace.hostFolders.temporary)
    for (const made of [workspace.hostFolders.builds, workspace.hostFolders.temporary]) {
      await mkdir(made, { recursive: true })
      // Only the agent can access the parent folder. Users of a container reach these folders through their mounts.
      if (executor.isIsolated) await chmod(made, 0o777)
    }
    const mark = makeMark()
    const sections = new Sections(log, job.features.trace_sections)
    const given = { job, variables, workspace, environment, mark, say: sections.say, warn: sections.warn }
    const output = (chunk: Buffer) => log.write(chunk)
    return new JobRun(job, options, {
      signal,
      variables,
      workspace,
      executor: await executor.open({ ...given, output }),
      mark,
      sections,
    })
  }

  /** Whether any part of the script has run. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  async all(): Promise<void> {
    await this.#prepare()
    this.#hasBegun = true
    const failure = await this.#scripts.steps().then(
      () => null,
      (error: unknown) => ({ error }),
    )
    // After a forced cancellation, a timeout or a stop, no further stage runs.
    this.#signal.throwIfAborted()
    await this.#scripts.after(failure === null)
    const later = await this.#keep(failure === null).then(
      () => null,
      (error: unknown) => ({ error }),
    )
    const first = failure ?? later
    if (first) throw first.error
  }

  async close(): Promise<void> {
    const title = 'Cleaning up project directory and file based variables'
    await this.#sections.section('cleanup_file_variables', title, async () => {
      await this.#executor.close()
      await this.#executor.remove(this.#workspace.hostFolders.temporary)
    })
  }

  async #prepare(): Promise<void> {
    const { executor } = this.#options
    await this.#sections.section('prepare_executor', `Preparing the "${executor.name}" executor`, () =>
      this.#executor.prepare(this.#signal),
    )
    await this.#sections.section('prepare_script', 'Preparing environment', async () => {
      await this.#sections.say(`Running on ${hostname()}...`)
      await this.#writeFiles()
    })
    if (this.#job.hooks.length > 0) this.#hasBegun = true
    await this.#scripts.hook('pre_get_sources_script')
    await this.#sections.section('get_sources', 'Getting source from Git repository', () => this.#sources())
    const { cache, dependencies } = this.#job
    if (cache.length > 0)
      await this.#sections.section('restore_cache', 'Restoring cache', async () => {
        for (const one of cache) {
          // A missing cache does not fail the job.
          await this.#attempts('RESTORE_CACHE_ATTEMPTS', () => restoreCache(this.#cacheJob(), one))
        }
      })
    const needed = dependencies.filter(({ artifacts_file: { filename } }) => filename !== '')
    if (needed.length > 0)
      await this.#sections.section('download_artifacts', 'Downloading artifacts', async () => {
        for (const one of needed)
          await this.#attempts('ARTIFACT_DOWNLOAD_ATTEMPTS', () => downloadArtifacts(this.#artifactJob(), one))
      })
  }

  async #writeFiles(): Promise<void> {
    const { temporary } = this.#workspace.hostFolders
    for (const { key, content } of this.#variables.files())
      await writeFile(join(temporary, key), content, { mode: this.#options.executor.isIsolated ? 0o644 : 0o600 })
  }

  async #sources(): Promise<void> {
    const { workingCopy, executor, environment } = this.#options
    // For jobs in containers, git runs without a home folder: no keys, passwords or settings of the user who runs the
    // agent.
    const own = executor.isIsolated
      ? { HOME: this.#workspace.hostFolders.temporary, GIT_ALLOW_PROTOCOL: 'http:https' }
      : Object.fromEntries(this.#variables.environment())
    const sources: SourcesJob = {
      job: this.#job,
      variables: this.#variables,
      folder: this.#workspace.hostFolders.project,
      environment: { ...environment, ...own },
      mark: this.#mark,
      isIsolated: executor.isIsolated,
      say: this.#sections.say,
      output: (chunk) => this.#options.log.write(chunk),
      remove: (folder) => this.#executor.remove(folder),
      signal: this.#signal,
    }
    const { triesWhileAway = TRIES_WHILE_AWAY } = this.#options
    if (workingCopy === undefined)
      await this.#attempts('GET_SOURCES_ATTEMPTS', () => getSources(sources), triesWhileAway)
    else await copySources(workingCopy, sources)
    this.#tracked = await trackedFiles(sources)
    if (executor.isIsolated) await chmod(this.#workspace.hostFolders.project, 0o777)
  }

  async #attempts(variable: string, work: () => Promise<void>, away = 1): Promise<void> {
    const attempts = Number(this.#variables.get(variable) || 1)
    const most = Number.isInteger(attempts) && attempts >= 1 && attempts <= MOST_ATTEMPTS ? attempts : 1
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        const isAway = error instanceof JobFailed && error.isTemporary
        if (attempt >= Math.max(most, isAway ? away : 1) || this.#signal.aborted) throw error
        await this.#sections.warn(`${(error as Error).message}; retrying`)
        if (isAway) await sleep(pauseOf(attempt, null), null, { signal: this.#signal })
      }
    }
  }

  /** Stores the caches and artifacts that are due. */
  async #keep(isSuccess: boolean): Promise<void> {
    const suffix = isSuccess ? '' : '_on_failure'
    const how = isSuccess ? 'successful' : 'failed'
    const caches = this.#job.cache.filter(({ when }) => isDue(when, isSuccess))
    if (caches.length > 0)
      await this.#sections.section(`archive_cache${suffix}`, `Saving cache for ${how} job`, async () => {
        for (const cache of caches) await saveCache(this.#cacheJob(), cache)
      })
    const artifacts = this.#job.artifacts.filter(({ when }) => isDue(when, isSuccess))
    if (artifacts.length === 0) return
    const stage = `upload_artifacts_on_${isSuccess ? 'success' : 'failure'}`
    await this.#sections.section(stage, `Uploading artifacts for ${how} job`, () => this.#uploadAll(artifacts))
  }

  /** A failed upload does not stop the others. */
  async #uploadAll(artifacts: readonly Artifact[]): Promise<void> {
    let failure: { error: unknown } | null = null
    for (const artifact of artifacts) {
      try {
        await uploadArtifacts(this.#artifactJob(), artifact)
      } catch (error) {
        this.#signal.throwIfAborted()
        await this.#options.log.write(`${RED}ERROR: ${(error as Error).message}${RESET}\n`)
        failure ??= { error }
      }
    }
    if (failure) throw failure.error
  }

  #buildFolder(): BuildFolder {
    return {
      root: this.#workspace.hostFolders.project,
      seen: this.#workspace.seen.project,
      tracked: this.#tracked,
      say: this.#sections.say,
      warn: this.#sections.warn,
    }
  }

  #cacheJob() {
    const { cacheFolder: folder } = this.#options
    return {
      job: this.#job,
      variables: this.#variables,
      folder,
      buildFolder: this.#buildFolder(),
      signal: this.#signal,
    }
  }

  #artifactJob() {
    const { artifacts: door } = this.#options
    const { temporary } = this.#workspace.hostFolders
    return { variables: this.#variables, buildFolder: this.#buildFolder(), door, temporary, signal: this.#signal }
  }
}

function setOwnVariables(
  variables: Variables,
  {
    job,
    options,
    workspace,
    timeoutMs,
  }: { job: Job; options: ExecuteOptions; workspace: Workspace; timeoutMs: number },
): void {
  const { seen } = workspace
  const own: Record<string, string> = {
    CI_PROJECT_DIR: seen.project,
    CI_SERVER: 'yes',
    CI_JOB_STATUS: 'running',
    CI_JOB_TIMEOUT: String(timeoutMs / 1000),
    CI_RUNNER_VERSION: VERSION,
    CI_RUNNER_REVISION: VERSION,
    CI_RUNNER_EXECUTABLE_ARCH: `${platform()}/${arch()}`,
    CI_RUNNER_SHORT_TOKEN: options.shortToken ?? '',
    RUNNER_TEMP_PROJECT_DIR: seen.temporary,
    [options.executor.isIsolated ? 'CI_DISPOSABLE_ENVIRONMENT' : 'CI_SHARED_ENVIRONMENT']: 'true',
  }
  for (const [key, value] of Object.entries(own)) variables.set(key, value)
  for (const [key, value] of Object.entries({ CI: 'true', GITLAB_CI: 'true', CI_JOB_TOKEN: job.token }))
    variables.setDefault(key, value)
  if (options.executor.isIsolated && job.image) variables.set('CI_JOB_IMAGE', variables.expand(job.image.name))
}
