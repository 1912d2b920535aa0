/** Renders files for pages: text with syntax highlighting, Markdown as HTML, and facts about other files. */
import type { App } from '../../../context.ts'
import { escapeHtml } from '../../../lib/markdown/html.ts'
import { readPointer } from '../../../lib/files/lfs-pointer.ts'
import { markLines, markedLanguage } from '../../../lib/markdown/marked-code.ts'
import { referencesIn, renderMarkdown } from '../../../lib/markdown/markdown.ts'
import { sniffMedia } from '../../../lib/files/media.ts'
import { encodeSegments } from '../../../lib/text/segments.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import type { FileAtCommit } from './queries.ts'

export const KINDS = ['text', 'markdown', 'image', 'drawing', 'pdf', 'lfs', 'binary', 'large'] as const
export type FileKind = (typeof KINDS)[number]

const LOOKED_AT = 8000

export function kindOf(path: string, content: Buffer): FileKind {
  const media = sniffMedia(content)
  if (media.kind === 'image' || media.kind === 'drawing') return media.kind
  if (media.type === 'application/pdf') return 'pdf'
  if (readPointer(content)) return 'lfs'
  if (content.subarray(0, LOOKED_AT).includes(0)) return 'binary'
  return /\.(md|markdown|mdown|mkdn?)$/i.test(path) ? 'markdown' : 'text'
}

const MOST_LINES = 5000
const MOST_CHARACTERS = 400_000

export interface RenderedLines {
  /** Each line as HTML. */
  readonly lines: string[]
  /** The file has more lines. */
  readonly isCut: boolean
}

export async function linesIn(app: App, path: string, content: Buffer): Promise<RenderedLines> {
  const text = content.toString().replaceAll('\r\n', '\n')
  const all = text.replace(/\n$/, '').split('\n')
  let characters = 0
  const beyond = all.findIndex((line, n) => n >= MOST_LINES || (characters += line.length) > MOST_CHARACTERS)
  const shown = beyond < 0 ? all : all.slice(0, beyond)
  return { lines: (await marked(app, path, shown)) ?? shown.map(escapeHtml), isCut: beyond >= 0 }
}

/** Highlights all groups as one text. Files that are too long stay plain. */
export async function markBlame<G extends { readonly lines: string[] }>(
  app: App,
  path: string,
  groups: readonly G[],
): Promise<(G & { lines_html: string[] | null })[]> {
  const all = groups.flatMap(({ lines }) => lines.map((line) => line.replace(/\r$/, '')))
  const isLong = all.length > MOST_LINES || all.reduce((sum, line) => sum + line.length, 0) > MOST_CHARACTERS
  const html = isLong ? null : await marked(app, path, all)
  let at = 0
  return groups.map((group) => {
    const from = at
    at += group.lines.length
    return { ...group, lines_html: html?.slice(from, at) ?? null }
  })
}

/** Null without highlighting. */
async function marked({ caller }: App, path: string, lines: readonly string[]): Promise<string[] | null> {
  const language = markedLanguage(path)
  return language === null ? null : (await markLines([{ language, lines }], caller))[0]!
}

/** Links lead to neighboring files, and images come from the repository. */
export async function renderFile(
  app: App,
  subject: RepositorySubject,
  { entry, ref }: FileAtCommit,
  content: Buffer,
): Promise<string> {
  const project = webUrlOf(app, subject)
  const folder = entry.path.split('/').slice(0, -1).join('/')
  const text = content.toString()
  const raw = pageBelow(project, `raw/${encodeSegments(ref)}`)
  const html = await renderMarkdown(text, {
    base: app.url,
    caller: app.caller,
    resolutions: await app.resolveReferences(
      app,
      subject.viewer,
      subject.project,
      await referencesIn(text, app.url, app.caller),
    ),
    tracker: await app.findTracker(app, subject.project),
    linkBases: {
      project,
      links: { root: pageBelow(project, `blob/${encodeSegments(ref)}`), folder },
      pictures: { root: raw, folder },
    },
  })
  return html.replaceAll(/ src="([^"]*)"/g, (whole, address: string) =>
    address.startsWith(`${raw}/`)
      ? ` src="${rawAddress(subject.project.id, address.slice(raw.length + 1), ref)}"`
      : whole,
  )
}

/** A path in Markdown is URL-encoded. */
function rawAddress(project: number, written: string, ref: string): string {
  const path = written.replace(/[?#].*$/s, '').replaceAll('/', '%2F')
  return `/api/v4/projects/${project}/repository/files/${path}/raw?ref=${encodeURIComponent(ref)}`
}
