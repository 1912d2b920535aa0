/**
 * Repositories of other servers. Whoever calls has resolved the address and found it fit to be reached; git is held to
 * that one machine: it looks up no name, follows no redirect and no alternate, uses no proxy and speaks the one
 * protocol of the address.
 */
import { isIP } from 'node:net'
import { HOUR, MINUTE } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { address, isBranchName, UnsafeArgument, type Address } from '../process/arguments.ts'
import { git, type GitOptions } from '../process/command.ts'
import { assertClean } from './integrity.ts'
import { initialise, packRefs, fillRepository, REFS_FLUSHED_LATER, setHead, sizeOf } from './repositories.ts'

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** `https://me:secret@host/x.git` → the address as it may be shown and used, and what was in it. */
export function splitAddress(value: string): { address: string; credentials: Credentials | null } {
  const url = URL.parse(value)
  if (!url) throw new UnsafeArgument('address')
  const { username, password } = url
  url.username = ''
  url.password = ''
  const isOpen = username === '' && password === ''
  return {
    address: address(url.href),
    credentials: isOpen ? null : { username: decode(username), password: decode(password) },
  }
}

/** A percent sign that escapes nothing stands for itself. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export interface MirrorOptions {
  /** The IP address the host was found to have; the only one that is connected to. */
  readonly resolved: string
  readonly credentials?: Credentials | null
  /** Milliseconds the transfer may take. */
  readonly deadline?: number
  /** Beyond this many bytes on our disk it is given up with a `too_large` Refusal. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
  /** Of the objects, received so far. */
  onProgress?(percent: number): void
}

/**
 * Branches, tags and HEAD of a remote repository, in a new one. A target that has refs already is the work of an
 * earlier run and stays.
 */
export async function mirrorFrom(remote: string, dir: string, options: MirrorOptions): Promise<void> {
  const { deadline = HOUR, maxBytes = Infinity, onProgress } = options
  const { url, ...settings } = pinned(address(remote), options)
  const tooLarge = new AbortController()
  const signal = AbortSignal.any([tooLarge.signal, ...(options.signal ? [options.signal] : [])])
  const guarded = { ...settings, signal, deadline }

  await fillRepository(dir, async (draft) => {
    await initialise(draft, 'master')
    const head = await remoteHead(draft, url, guarded)
    using _watch = watchSize(draft, maxBytes, tooLarge)
    await git(draft, [...FETCH, url, 'refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'], {
      ...guarded,
      config: { ...guarded.config, ...REFS_FLUSHED_LATER },
      onStderr: progressReader(onProgress),
    })
    if ((await sizeOf(draft)) > maxBytes) throw tooMuch()
    await assertClean(draft, signal)
    const born = head ?? (await likelyHead(draft))
    if (born !== null) await setHead(draft, born)
    await packRefs(draft, signal)
  })
}

const FETCH = [
  'fetch',
  '--progress',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--end-of-options',
] as const

type Pinned = Pick<GitOptions, 'protocol' | 'environment'> & { config: Record<string, string>; url: Address }

function pinned(remote: Address, { resolved, credentials }: MirrorOptions): Pinned {
  const url = new URL(remote)
  const ip = isIP(resolved) === 6 ? `[${resolved}]` : resolved
  if (isIP(resolved) === 0) throw new Error('resolved to no IP address')
  // Always one pack, that grows where it is watched.
  const config = { 'fetch.unpackLimit': '1' }
  if (url.protocol === 'git:') {
    const { host } = url
    url.host = url.port ? `${ip}:${url.port}` : ip
    // The daemon is still told the name: it may serve several.
    return { protocol: 'git', url: address(url.href), config, environment: { GIT_OVERRIDE_VIRTUAL_HOST: host } }
  }
  // No name, nothing to pin: curl connects to what is written.
  if (isLiteral(url.hostname) && url.hostname !== ip) throw new Error('resolved to another address')
  const isSecure = url.protocol === 'https:'
  const port = url.port || (isSecure ? '443' : '80')
  return {
    protocol: isSecure ? 'https' : 'http',
    url: remote,
    config: {
      ...config,
      // A redirect would lead past the check; this also turns off the alternates of the old file protocol.
      'http.followRedirects': 'false',
      // Any name: with the one above spelt otherwise than curl spells it, curl would go and ask.
      'http.curloptResolve': `*:${port}:${ip}`,
      'http.proxy': '',
      // A server that trickles is given up.
      'http.lowSpeedLimit': '1000',
      'http.lowSpeedTime': '60',
      ...(credentials && { 'http.extraHeader': `Authorization: Basic ${basic(credentials)}` }),
    },
  }
}

const isLiteral = (host: string) => host.startsWith('[') || isIP(host) !== 0

const basic = ({ username, password }: Credentials) => Buffer.from(`${username}:${password}`).toString('base64')

/** The remote's default branch; null when it has none, or none that may be called so. */
async function remoteHead(dir: string, url: Address, options: GitOptions): Promise<string | null> {
  const lines = await git(dir, ['ls-remote', '--symref', '--end-of-options', url, 'HEAD'], {
    ...options,
    deadline: Math.min(MINUTE, options.deadline ?? MINUTE),
  })
  const name = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(lines)?.[1]
  return name !== undefined && isBranchName(name) ? name : null
}

/** For a remote whose HEAD names no branch. */
async function likelyHead(dir: string): Promise<string | null> {
  const names = (await git(dir, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads'])).trim().split('\n')
  return ['master', 'main', ...names].find((name) => name !== '' && names.includes(name)) ?? null
}

function progressReader(onProgress: MirrorOptions['onProgress']): (text: string) => void {
  let last = -1
  return (text) => {
    const percent = Number([...text.matchAll(/Receiving objects: +(\d+)%/g)].at(-1)?.[1] ?? last)
    if (percent === last) return
    last = percent
    onProgress?.(percent)
  }
}

const WATCH_MS = 250

const tooMuch = () => new Refusal('too_large', 'The repository is too large')

/** git has no limit of its own for what it fetches. */
function watchSize(dir: string, maxBytes: number, controller: AbortController): Disposable {
  if (maxBytes === Infinity) return { [Symbol.dispose]() {} }
  const look = async () => {
    if ((await sizeOf(dir)) > maxBytes) controller.abort(tooMuch())
  }
  // A folder that changes while it is read is looked at again.
  const timer = setInterval(() => void look().catch(() => {}), WATCH_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
