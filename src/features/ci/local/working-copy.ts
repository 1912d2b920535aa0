/**
 * The current state of a working copy: commits, uncommitted changes, and the remote. The copy belongs to the user, so
 * this code runs the user's own git with the user's own settings. Names from a configuration never reach git as an
 * option.
 */
import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { parseCommit, type Commit } from '../../../git/objects/commits.ts'
import { NO_OBJECT } from '../../../git/refs/update.ts'

type Environment = Readonly<Record<string, string | undefined>>

const run = promisify(execFile)
const LONGEST_ANSWER = 256 * 1024 * 1024

export class NoWorkingCopy extends Error {
  override name = 'NoWorkingCopy'
}

export interface Origin {
  /** The URL of the server: `https://forge.example.com`. */
  readonly url: string
  /** `group/project`. */
  readonly path: string
}

export interface WorkingCopy {
  readonly root: string
  /** The folder for builds, caches and artifacts. Git ignores it. */
  readonly state: string
  readonly ref: string
  readonly tag: boolean
  /** All zeros before the first commit. */
  readonly sha: string
  readonly commit: Commit | null
  readonly default_branch: string
  /**
   * The commit of the branch on the server, as far as this copy knows. All zeros if the branch is not on the server
   * yet.
   */
  readonly before_sha: string
  readonly origin: Origin | null
  /** `group/project`, from the origin or from the folder name. */
  readonly project: string
  readonly user: { readonly name: string | null; readonly email: string | null }
  readonly git: Git
}

export async function openWorkingCopy(
  folder: string,
  { ref: givenRef, environment }: { ref?: string | undefined; environment: Environment },
): Promise<WorkingCopy> {
  const outside = new Git(folder, environment)
  const root = await outside.line('rev-parse', '--show-toplevel')
  if (!root) throw new NoWorkingCopy('this is no working copy of git')
  const git = new Git(root, environment)
  const current = await git.line('symbolic-ref', '--short', '--quiet', 'HEAD')
  const ref = givenRef ?? current ?? (await git.line('describe', '--tags', '--exact-match')) ?? 'HEAD'
  const isBranch = ref === current || (await git.commitOf(`refs/heads/${ref}`)) !== null
  const tag = !isBranch && (await git.commitOf(`refs/tags/${ref}`)) !== null
  // The files are those of the working copy, whatever ref the caller names for the pipeline.
  const sha = (await git.commitOf('HEAD')) ?? NO_OBJECT
  const origin = originOf((await git.line('remote', 'get-url', 'origin')) ?? '')
  return {
    root,
    state: (await git.line('rev-parse', '--path-format=absolute', '--git-path', 'mortise-ci'))!,
    ref,
    tag,
    sha,
    commit: sha === NO_OBJECT ? null : parseCommit(sha, await git.bytes('cat-file', 'commit', sha)),
    default_branch: await defaultBranch(git, current),
    before_sha: tag ? NO_OBJECT : await knownTip(git, ref),
    origin,
    project: origin?.path ?? `local/${basename(root).replace(/[^\w.-]/g, '-') || 'project'}`,
    user: { name: await git.line('config', 'user.name'), email: await git.line('config', 'user.email') },
    git,
  }
}

async function defaultBranch(git: Git, current: string | null): Promise<string> {
  const remoteHead = await git.line('symbolic-ref', '--short', '--quiet', 'refs/remotes/origin/HEAD')
  if (remoteHead) return remoteHead.replace(/^origin\//, '')
  for (const name of ['main', 'master']) if (await git.commitOf(`refs/heads/${name}`)) return name
  return current ?? 'main'
}

async function knownTip(git: Git, ref: string): Promise<string> {
  const upstream = await git.line('for-each-ref', '--format=%(upstream)', `refs/heads/${ref}`)
  return (await git.commitOf(upstream || `refs/remotes/origin/${ref}`)) ?? NO_OBJECT
}

/** Reads HTTP URLs, `ssh://git@host/path` and `git@host:path`. A folder has no server. */
export function originOf(address: string): Origin | null {
  const scp = /^(?:[^@/:]+@)?([\w.-]{2,}):(?!\/\/)\/?(.+)$/.exec(address)
  const url = scp ? URL.parse(`ssh://${scp[1]}/${scp[2]}`) : URL.parse(address)
  if (!url || !['http:', 'https:', 'ssh:'].includes(url.protocol)) return null
  const path = url.pathname.replace(/^\/+|\/+$|\.git\/?$/g, '')
  if (!/^[\w.-]+(\/[\w.-]+)+$/.test(path)) return null
  return { url: url.protocol === 'ssh:' ? `https://${url.hostname}` : url.origin, path }
}

/** Paths that changed in the working copy since a commit, with uncommitted changes and new files. */
export async function changedSince({ git }: WorkingCopy, sha: string): Promise<string[]> {
  const changed = await git.list('diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', sha, '--')
  return [...new Set([...changed, ...(await untracked(git))])]
}

export async function filesOf({ git }: WorkingCopy): Promise<string[]> {
  const gone = new Set(await git.list('ls-files', '-z', '--deleted'))
  const tracked = await git.list('ls-files', '-z', '--cached')
  return [...new Set([...tracked, ...(await untracked(git))])].filter((path) => !gone.has(path))
}

const untracked = (git: Git) => git.list('ls-files', '-z', '--others', '--exclude-standard')

/** The merge base of a branch and the working copy. Null if either is unknown. */
export async function baseWith({ git }: WorkingCopy, ref: string): Promise<string | null> {
  const other = (await git.commitOf(`refs/remotes/origin/${ref}`)) ?? (await git.commitOf(ref))
  return other && git.line('merge-base', 'HEAD', other)
}

export class Git {
  readonly #folder: string
  readonly #environment: Environment

  constructor(folder: string, environment: Environment) {
    this.#folder = folder
    this.#environment = environment
  }

  async bytes(...args: string[]): Promise<Buffer> {
    const { stdout } = await run('git', ['-c', 'core.fsmonitor=false', ...args], {
      cwd: this.#folder,
      env: { ...this.#environment, GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' },
      encoding: 'buffer',
      maxBuffer: LONGEST_ANSWER,
    })
    return stdout
  }

  /** Null if git fails or prints nothing. */
  async line(...args: string[]): Promise<string | null> {
    const answer = await this.bytes(...args).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new NoWorkingCopy('git is not there')
      return Buffer.of()
    })
    return answer.toString('utf8').trimEnd() || null
  }

  async list(...args: string[]): Promise<string[]> {
    return (await this.bytes(...args)).toString('utf8').split('\0').filter(Boolean)
  }

  commitOf(name: string): Promise<string | null> {
    return this.line('rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`)
  }
}
