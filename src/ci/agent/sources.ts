/**
 * Checks out a job's commit with git, like the reference runner. Git gets the token from a helper that reads the
 * environment, so the token appears in no command line, no configuration and no log.
 */
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { JobFailed, type Job } from './job.ts'
import { runProgram, type Environment } from './processes.ts'
import { quoted } from './scripts.ts'
import type { Variables } from './variables.ts'
import { credentialOf } from './workspace.ts'

export interface SourcesJob {
  readonly job: Job
  readonly variables: Variables
  /** The build folder. */
  readonly folder: string
  readonly environment: Environment
  readonly mark: string
  /**
   * Whether the job is isolated from this machine. If so, git on this machine must not obey files or settings of the
   * job.
   */
  readonly isIsolated: boolean
  readonly say: (text: string) => Promise<void>
  readonly output: (chunk: Buffer) => Promise<void>
  readonly remove: (folder: string) => Promise<void>
  readonly signal: AbortSignal
}

type Strategy = 'clone' | 'fetch' | 'none' | 'empty'

const ALL_REFS = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']
/** Lock files that a killed git left. */
const LOCKS = ['index.lock', 'shallow.lock', 'HEAD.lock', 'config.lock', 'hooks/post-checkout']

export async function getSources(given: SourcesJob): Promise<void> {
  const strategy = strategyOf(given)
  if (strategy === 'none') {
    if (given.isIsolated) await given.remove(given.folder)
    await mkdir(given.folder, { recursive: true })
    return given.say('Skipping Git repository setup')
  }
  if (strategy !== 'fetch' || given.isIsolated) await given.remove(given.folder)
  await mkdir(given.folder, { recursive: true })
  if (strategy === 'empty') return given.say('Skipping Git repository setup and creating an empty build directory')

  const git = new Git(given)
  await fetchSources(git, given)
  if (given.variables.get('GIT_CHECKOUT') === 'false') await given.say('Skipping Git checkout')
  else await checkout(git, given)
  await submodules(git, given)
}

function strategyOf({ job, variables }: SourcesJob): Strategy {
  const strategy = variables.get('GIT_STRATEGY')
  if (strategy === '') return job.allow_git_fetch ? 'fetch' : 'clone'
  if (strategy === 'clone' || strategy === 'fetch' || strategy === 'none' || strategy === 'empty') return strategy
  throw new JobFailed('runner_system_failure', 'unknown GIT_STRATEGY')
}

async function fetchSources(git: Git, given: SourcesJob): Promise<void> {
  const { job, variables, folder, say } = given
  const { refspecs, depth: jobDepth } = job.git_info
  const depth = Number(variables.get('GIT_DEPTH') || jobDepth) || 0
  await say(depth > 0 ? `Fetching changes with git depth set to ${depth}...` : 'Fetching changes...')
  const isNew = !existsSync(join(folder, '.git'))
  if (isNew) {
    await git.run('init', '--quiet', '--template=')
    await git.run('remote', 'add', '--', 'origin', git.url)
  } else {
    for (const lock of LOCKS) await rm(join(folder, '.git', lock), { force: true })
    await git.run('config', 'remote.origin.url', git.url)
  }
  await git.run('config', 'fetch.recurseSubmodules', 'false')
  await git.rememberHelper()
  if (isNew) await say('Created fresh repository.')
  const flags = flagsOf(given, variables.get('GIT_FETCH_EXTRA_FLAGS') || '--prune --quiet')
  const shallow = existsSync(join(folder, '.git/shallow')) ? ['--unshallow'] : []
  const limits = depth > 0 ? [`--depth=${depth}`] : shallow
  await git.run('fetch', ...flags, ...limits, '--', 'origin', ...(refspecs.length > 0 ? refspecs : ALL_REFS))
}

async function checkout(git: Git, { job, variables, say }: SourcesJob): Promise<void> {
  const { sha, ref } = job.git_info
  await say(`Checking out ${sha.slice(0, 8)} as detached HEAD (ref is ${ref})...`)
  await git.run('-c', 'submodule.recurse=false', 'checkout', '--force', '--quiet', '--detach', sha)
  const clean = cleanFlags(variables)
  if (clean) await git.run('clean', ...clean)
  if (await git.hasLfs()) await git.run('lfs', 'pull')
}

function cleanFlags(variables: Variables): string[] | null {
  const flags = variables.get('GIT_CLEAN_FLAGS') || '-ffdx'
  return flags === 'none' ? null : wordsOf(flags)
}

async function submodules(git: Git, given: SourcesJob): Promise<void> {
  const { variables, folder, say } = given
  const strategy = variables.get('GIT_SUBMODULE_STRATEGY') || 'none'
  if (strategy === 'none') return say('Skipping Git submodules setup')
  if (strategy !== 'normal' && strategy !== 'recursive')
    throw new JobFailed('runner_system_failure', 'unknown GIT_SUBMODULE_STRATEGY')
  const deep = strategy === 'recursive' ? ['--recursive'] : []
  const paths = wordsOf(variables.get('GIT_SUBMODULE_PATHS'))
  const depth = Number(variables.get('GIT_SUBMODULE_DEPTH') || 0)
  const flags = flagsOf(given, variables.get('GIT_SUBMODULE_UPDATE_FLAGS'))
  await say(`Updating/initializing submodules${deep.length > 0 ? ' recursively' : ''}...`)
  await git.run('submodule', 'init', '--', ...paths)
  await git.run('submodule', '--quiet', 'sync', ...deep)
  const limits = depth > 0 ? ['--depth', String(depth)] : []
  await git.run('submodule', 'update', '--init', ...deep, ...limits, ...flags, '--', ...paths)
  const clean = cleanFlags(variables)
  if (clean) await git.run('submodule', '--quiet', 'foreach', ...deep, `git clean ${clean.map(quoted).join(' ')}`)
  if (existsSync(join(folder, '.gitmodules')) && (await git.hasLfs()))
    await git.run('submodule', '--quiet', 'foreach', ...deep, 'git lfs pull')
}

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean)

/** Allowed flags only, because some flags of git name programs to run. */
const HARMLESS =
  /^(-[pqvftn]|--(prune|quiet|verbose|force|tags|no-tags|progress|no-progress|remote|recursive|jobs=\d+|depth=\d+|filter=[\w:]+))$/

function flagsOf({ isIsolated }: SourcesJob, text: string): string[] {
  const flags = wordsOf(text)
  const refused = isIsolated ? flags.find((flag) => !HARMLESS.test(flag)) : undefined
  if (refused === undefined) return flags
  throw new JobFailed('runner_configuration_error', `git is not run with ${refused.slice(0, 100)} beside a container`)
}

/** Messages of git when the server is unavailable. */
const AWAY =
  /could not resolve host|failed to connect|couldn't connect|connection (refused|reset|timed out)|empty reply|early eof|hung up unexpectedly|unexpected disconnect|rpc failed|recv failure|transfer closed|returned error: (408|429|5\d\d)/i
const LAST_WORDS = 4096

/** Prints the password from the given variable, and only for the host that it is set for. */
const helperOf = (username: string, variable: string) =>
  `!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' ${username} "$${variable}"; }; f`

class Git {
  readonly url: string
  readonly #given: SourcesJob
  readonly #environment: Environment
  readonly #helper: string[]
  readonly #host: string | null

  constructor(given: SourcesJob) {
    this.#given = given
    const { repo_url: address } = given.job.git_info
    if (!URL.canParse(address)) throw new JobFailed('runner_system_failure', 'the repository has no address')
    const url = new URL(address)
    const found = credentialOf(address)
    const username = found.username.replace(/[^\w.@-]/g, '') || 'gitlab-ci-token'
    const password = found.password || given.job.token
    url.username = url.password = ''
    this.url = url.href
    this.#host = /^https?:$/.test(url.protocol) ? url.origin : null
    // Credential helpers of the user who runs the agent would also be called, and would store the token.
    const own = this.#host ? [`credential.${this.#host}.helper=${helperOf(username, 'MORTISE_GIT_PASSWORD')}`] : []
    this.#helper = ['credential.helper=', ...own].flatMap((setting) => ['-c', setting])
    this.#environment = {
      ...given.environment,
      GIT_TERMINAL_PROMPT: '0',
      // The agent parses the messages of git.
      LC_ALL: 'C.UTF-8',
      GIT_ASKPASS: '',
      SSH_ASKPASS: '',
      MORTISE_GIT_PASSWORD: password,
      // Git LFS downloads all files at once, after the checkout.
      GIT_LFS_SKIP_SMUDGE: '1',
    }
  }

  async run(...args: string[]): Promise<void> {
    let last = ''
    const code = await this.#run(args, (chunk) => {
      last = (last + chunk.toString('latin1')).slice(-LAST_WORDS)
      return this.#given.output(chunk)
    })
    if (code === 0) return
    throw new JobFailed('runner_system_failure', `exit status ${code}`, { isTemporary: AWAY.test(last) })
  }

  async hasLfs(): Promise<boolean> {
    if (this.#given.variables.get('GIT_LFS_SKIP_SMUDGE') === '1') return false
    return (await this.#run(['lfs', 'version'], () => Promise.resolve())) === 0
  }

  /** For git commands of the job itself, which have the token in their environment. */
  async rememberHelper(): Promise<void> {
    if (!this.#host) return
    const name = `credential.${this.#host}.helper`
    await this.run('config', '--replace-all', name, '')
    await this.run('config', '--add', name, helperOf('gitlab-ci-token', 'CI_JOB_TOKEN'))
  }

  #run(args: string[], output: (chunk: Buffer) => Promise<void>): Promise<number> {
    const { folder: cwd, mark, signal } = this.#given
    // Other users must be able to read the checkout, unlike the other files of the agent.
    const command = ['-c', 'umask 0022 && exec git "$@"', 'git', ...this.#helper, ...args]
    return runProgram({ command: '/bin/sh', args: command, cwd, environment: this.#environment, mark, output, signal })
  }
}

const LONGEST_INDEX = 256 * 1024 ** 2

/** The paths that git checked out. */
export async function trackedFiles(given: SourcesJob): Promise<Set<string>> {
  if (!existsSync(join(given.folder, '.git'))) return new Set()
  const chunks: Buffer[] = []
  let size = 0
  const output = async (chunk: Buffer) => {
    size += chunk.length
    if (size <= LONGEST_INDEX) chunks.push(chunk)
  }
  const { folder: cwd, environment, mark, signal } = given
  const args = ['-c', 'core.fsmonitor=false', 'ls-files', '-z']
  await runProgram({ command: 'git', args, cwd, environment, mark, output, signal })
  return new Set(Buffer.concat(chunks).toString('utf8').split('\0'))
}

/** Copies the files of a working copy, with changes and new files, but without ignored files. */
export async function copySources(from: string, given: SourcesJob): Promise<void> {
  const { folder, environment, mark, output, signal } = given
  const strategy = strategyOf(given)
  await given.remove(folder)
  await mkdir(folder, { recursive: true })
  if (strategy === 'none' || strategy === 'empty') return given.say('Skipping Git repository setup')
  // A working copy without a commit cannot be cloned, but its files can run. tar keeps modes and links. Deleted but
  // uncommitted files are skipped.
  const script = `umask 0022
git clone --quiet --shared --no-checkout -- . "$1" 2>/dev/null || true
git ls-files -z --cached --others --exclude-standard |
  tar --create --null --no-recursion --ignore-failed-read --files-from=- 2>/dev/null |
  tar --extract --directory="$1" || exit 1
git -C "$1" reset --quiet 2>/dev/null || true`
  const args = ['-c', script, 'sh', folder]
  const code = await runProgram({ command: '/bin/sh', args, cwd: from, environment, mark, output, signal })
  if (code !== 0) throw new JobFailed('runner_system_failure', `exit status ${code}`)
  await given.say('Copied the files of the working copy')
}
