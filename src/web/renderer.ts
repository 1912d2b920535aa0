/** The built pages. In a clone with newer sources they are rebuilt first. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Calls } from '../api/abilities.ts'
import type { RequiredStep } from '../api/credentials.ts'
import type { InProcessAnswer } from '../api/in-process.ts'
import type { Raw } from '../api/input.ts'
import { hasCode } from '../lib/files/system-errors.ts'
import type { Flash } from './flash.ts'

export interface Assets {
  readonly script: string
  readonly style: string
  readonly preload: readonly string[]
}

export interface RenderRequest {
  readonly address: string
  readonly segments: readonly string[]
  readonly isSignedIn: boolean
  /** The instance is read-only, and every page says so. */
  readonly isReadOnly: boolean
  /** May see only the page of this step. */
  readonly requiredStep: RequiredStep | null
  /** Comes from more addresses than allowed. */
  readonly isCrowded: boolean
  /** Exceeded the rate limit; the headers say when to retry. */
  readonly throttled: Readonly<Record<string, string>> | null
  readonly csrf: string
  readonly cookies: string
  readonly flash: Flash
  readonly url: string
  readonly assets: (file: string) => Assets
  send(method: string, path: string, fields: Raw): Promise<InProcessAnswer>
  /** Which of these calls the caller may make. */
  may(calls: Calls, params: Raw): Promise<Record<string, boolean>>
  /** Null if it takes too long. */
  draw(drawing: Drawing): Promise<string | null>
  readonly form?: Raw
}

/** All data that a page is rendered from; its form is known to the pages only. */
export interface Drawing {
  readonly data: object
}

export type Answer =
  | { readonly status: number; readonly html: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly location: string }

interface Built {
  perform(drawing: Drawing): Promise<string>
  respond(request: RenderRequest): Promise<Answer | null>
  respondMissing(request: RenderRequest, status: number, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

export interface Renderer extends Built {
  /** Scripts and styles of a page, by its file. */
  assets(file: string): Assets
  /** The module that renders pages in threads. */
  readonly module: URL
}

/** Next to `dist/main.js` once built, in the root of a clone before. */
function findRoot(): string {
  const above = fileURLToPath(new URL('..', import.meta.url))
  return existsSync(join(above, 'package.json')) ? above : join(above, '..')
}

const root = findRoot()
export const built = join(root, 'dist/web')

let renderer: Promise<Renderer> | undefined

/** A failed load is retried by the next caller. */
export const loadRenderer = (): Promise<Renderer> =>
  (renderer ??= load().catch((error: unknown) => {
    renderer = undefined
    throw error
  }))

async function load(): Promise<Renderer> {
  await renew()
  const module = pathToFileURL(join(built, 'server/server.js'))
  const { respond, respondMissing, perform } = (await import(module.href)) as Built
  return { respond, respondMissing, perform, module, assets: assetsFrom(join(built, 'assets/manifest.json')) }
}

/**
 * The published package has no sources, so there is nothing to build. Without the build tools, the last build is used.
 */
async function renew(): Promise<void> {
  const script = join(root, 'scripts/build-web.js')
  if (!existsSync(script)) return
  const { buildWeb, changedAt } = (await import(pathToFileURL(script).href)) as {
    buildWeb(): Promise<void>
    changedAt(): number
  }
  const note = join(built, 'changed')
  if (existsSync(note) && Number(readFileSync(note, 'utf8')) === changedAt()) return
  await buildWeb().catch((error: unknown) => {
    if (!hasCode(error, 'ERR_MODULE_NOT_FOUND') || !existsSync(note)) throw error
  })
}

type Manifest = Record<string, { file: string; imports?: string[]; css?: string[] }>

const BASE = '/-/assets/'

function assetsFrom(path: string): (file: string) => Assets {
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
  const entry = manifest['client.tsx']!
  const style = Object.values(manifest).find(({ file }) => file.endsWith('.css'))!
  const importsOf = (name: string): string[] => {
    const { file, imports = [] } = manifest[name] ?? { file: '' }
    return [file, ...imports.flatMap(importsOf)]
  }
  return (file) => {
    const files = new Set([...importsOf('client.tsx'), ...importsOf(file.replace(/^\.\//, ''))])
    files.delete(entry.file)
    files.delete('')
    return { script: BASE + entry.file, style: BASE + style.file, preload: [...files].map((one) => BASE + one) }
  }
}
