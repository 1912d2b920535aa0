/** Custom repositories for tests: any bytes as names and contents, any history; and a count of processes. */
import { join } from 'node:path'
import { createRepository } from '../src/git/storage/repositories.ts'
import { launches, type Program } from '../src/git/process/launcher.ts'
import { closeReaders } from '../src/git/process/readers.ts'
import { runGit, temporaryFolder } from './git-origin.ts'

type Content = string | Uint8Array | null | { readonly mode: string; readonly content: string | Uint8Array }

export interface BuiltCommit {
  /** `master` by default; a new branch starts at `from`, or at nothing. */
  readonly branch?: string
  readonly from?: string
  readonly merge?: string
  readonly message?: string | Uint8Array
  readonly encoding?: string
  readonly author?: string
  readonly committer?: string
  /** Seconds since 1970; by default a minute after the previous commit. */
  readonly at?: number
  /** Null deletes. Names may be bytes, written as latin1 after a `\xff`. */
  readonly files?: Readonly<Record<string, Content>>
}

export interface BuiltRepository extends AsyncDisposable {
  readonly dir: string
  /** The folder around the repository, which must not change. */
  readonly root: string
  git(...args: string[]): Promise<string>
  write(type: 'commit' | 'tree' | 'blob' | 'tag', content: string | Uint8Array): Promise<string>
  add(...commits: BuiltCommit[]): Promise<void>
}

const FIRST_MOMENT = 1_700_000_000

export async function buildRepository(...commits: BuiltCommit[]): Promise<BuiltRepository> {
  const folder = await temporaryFolder()
  const dir = join(folder.path, 'x.git')
  await createRepository(dir, { defaultBranch: 'master' })
  let at = FIRST_MOMENT
  const git = (...args: string[]) => runGit([`--git-dir=${dir}`, ...args])
  const add = async (...more: BuiltCommit[]) => {
    const heads = new Set((await git('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads')).split('\n'))
    const placed = more.map((commit) => {
      // In a new run, fast-import needs the start of an existing branch.
      const { branch = 'master' } = commit
      const from = heads.delete(branch) ? { from: `refs/heads/${branch}^0` } : {}
      return { at: (at += 60), ...from, ...commit }
    })
    await importCommits(dir, placed)
  }
  await add(...commits)
  return {
    dir,
    root: folder.path,
    git,
    add,
    write: (type, content) =>
      runGit([`--git-dir=${dir}`, 'hash-object', '-t', type, '-w', '--stdin', '--literally'], Buffer.from(content)),
    async [Symbol.asyncDispose]() {
      closeReaders(dir)
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** One after the other, each a minute after the previous one by default. */
export async function importCommits(dir: string, commits: readonly BuiltCommit[]): Promise<void> {
  const script = commits.flatMap((commit, n) => commitScript({ at: FIRST_MOMENT + 60 * (n + 1), ...commit }))
  await runGit([`--git-dir=${dir}`, 'fast-import', '--quiet', '--force'], Buffer.concat(script))
}

function commitScript({ branch = 'master', author = 'Ada <ada@example.com>', at, ...commit }: BuiltCommit): Buffer[] {
  const committer = commit.committer ?? author
  const parts: (string | Uint8Array)[] = [
    `commit refs/heads/${branch}\n`,
    ...(/ \d+ [+-]\d+$/.test(author) ? [`author ${author}\n`] : [`author ${author} ${at} +0000\n`]),
    ...(/ \d+ [+-]\d+$/.test(committer) ? [`committer ${committer}\n`] : [`committer ${committer} ${at} +0000\n`]),
    ...(commit.encoding ? [`encoding ${commit.encoding}\n`] : []),
    ...data(commit.message ?? `commit ${at}\n`),
    ...(commit.from ? [`from ${commit.from}\n`] : []),
    ...(commit.merge ? [`merge ${commit.merge}\n`] : []),
  ]
  for (const [name, value] of Object.entries(commit.files ?? {})) {
    if (value === null) parts.push(`D ${quoted(name)}\n`)
    else if (typeof value === 'object' && 'mode' in value) {
      if (value.mode === '160000') parts.push(`M 160000 ${String(value.content)} ${quoted(name)}\n`)
      else parts.push(`M ${value.mode} inline ${quoted(name)}\n`, ...data(value.content))
    } else parts.push(`M 100644 inline ${quoted(name)}\n`, ...data(value))
  }
  return parts.map((part) => Buffer.from(part))
}

function data(content: string | Uint8Array): (string | Uint8Array)[] {
  const bytes = Buffer.from(content)
  return [`data ${bytes.length}\n`, bytes, '\n']
}

/** Octal for every byte, so that none can be misread. */
function quoted(name: string): string {
  const bytes = name.startsWith('\xff') ? Buffer.from(name.slice(1), 'latin1') : Buffer.from(name)
  const octal = Array.from(bytes, (byte) => (byte === 47 ? '/' : `\\${byte.toString(8).padStart(3, '0')}`))
  return `"${octal.join('')}"`
}

/** The processes that `work` started, as command lines. */
export async function processesOf(work: () => Promise<unknown>): Promise<(readonly string[])[]> {
  return (await programsOf(work)).map(({ words }) => words)
}

/** The programs themselves, still running or not. */
export async function programsOf(work: () => Promise<unknown>): Promise<Program[]> {
  const started: Program[] = []
  const note = (program: unknown) => void started.push(program as Program)
  launches.subscribe(note)
  try {
    await work()
  } finally {
    launches.unsubscribe(note)
  }
  return started
}
