/**
 * Fetches repositories from other servers. The caller has resolved the host and checked that it may be reached. Git is
 * restricted to that one machine: it resolves no name, follows no redirect and no alternate, uses no proxy, and speaks
 * only the protocol of the URL.
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

/** Splits `https://me:secret@host/x.git` into the URL without credentials and the credentials. */
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

/** A percent sign that is no escape stands for itself. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export interface MirrorOptions {
  /** The resolved IP address of the host; the only one that git connects to. */
  readonly resolved: string
  readonly credentials?: Credentials | null
  /** Milliseconds for the transfer. */
  readonly deadline?: number
  /** Above this number of bytes on disk, the transfer is aborted with a `too_large` Refusal. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
  /** The percentage of objects received so far. */
  onProgress?(percent: number): void
}

/**
 * Copies branches, tags and HEAD of a remote repository into a new one. A target with refs is the result of an earlier
 * run and stays.
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
  // Always one pack, which grows where its size is watched.
  const config = { 'fetch.unpackLimit': '1' }
  if (url.protocol === 'git:') {
    const { host } = url
    url.host = url.port ? `${ip}:${url.port}` : ip
    // The daemon still gets the host name, because it may serve several.
    return { protocol: 'git', url: address(url.href), config, environment: { GIT_OVERRIDE_VIRTUAL_HOST: host } }
  }
  // Without a host name there is nothing to pin: curl connects to the literal address.
  if (isLiteral(url.hostname) && url.hostname !== ip) throw new Error('resolved to another address')
  const isSecure = url.protocol === 'https:'
  const port = url.port || (isSecure ? '443' : '80')
  return {
    protocol: isSecure ? 'https' : 'http',
    url: remote,
    config: {
      ...config,
      // A redirect would bypass the check. This also disables the alternates of the old (dumb) protocol.
      'http.followRedirects': 'false',
      // For any name: if curl spells the name differently, an exact entry would not match and curl would resolve it.
      'http.curloptResolve': `*:${port}:${ip}`,
      'http.proxy': '',
      // Aborts if the server sends too slowly.
      'http.lowSpeedLimit': '1000',
      'http.lowSpeedTime': '60',
      ...(credentials && { 'http.extraHeader': `Authorization: Basic ${basic(credentials)}` }),
    },
  }
}

const isLiteral = (host: string) => host.startsWith('[') || isIP(host) !== 0

const basic = ({ username, password }: Credentials) => Buffer.from(`${username}:${password}`).toString('base64')

/** The default branch of the remote. Null if it has none, or one with an invalid name. */
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

/** Git has no size limit for a fetch. */
function watchSize(dir: string, maxBytes: number, controller: AbortController): Disposable {
  if (maxBytes === Infinity) return { [Symbol.dispose]() {} }
  const look = async () => {
    if ((await sizeOf(dir)) > maxBytes) controller.abort(tooMuch())
  }
  // If the folder changes during a check, the next check reads it again.
  const timer = setInterval(() => void look().catch(() => {}), WATCH_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
