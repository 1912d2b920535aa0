/** The files of `docs` as pages, read once on the first request. `README.md` is the index. */
import { readFile, readdir } from 'node:fs/promises'
import { ID_PREFIX } from '../../../lib/markdown/html.ts'
import { slugOf } from '../../../lib/markdown/slugs.ts'
import { DOCUMENTATION } from '../../../version.ts'

/** The text below one heading. */
export interface Section {
  readonly heading: string
  /** Null for the text before the first heading. */
  readonly anchor: string | null
  readonly text: string
}

export interface DocumentationPage {
  /** `install`, `contexts/ci`; empty for the index. */
  readonly slug: string
  readonly title: string
  /** Markdown without the title. */
  readonly text: string
  readonly sections: readonly Section[]
}

export interface Documentation {
  readonly pages: ReadonlyMap<string, DocumentationPage>
  readonly pictures: ReadonlySet<string>
}

let known: Promise<Documentation> | undefined

export const documentation = (): Promise<Documentation> =>
  (known ??= readDocumentation().catch((error: unknown) => {
    known = undefined
    throw error
  }))

async function readDocumentation(): Promise<Documentation> {
  const files = (await readdir(DOCUMENTATION, { recursive: true })).map((file) => file.replaceAll('\\', '/')).sort()
  const pages = files
    .filter((file) => file.endsWith('.md'))
    .map(async (file) => readPage(file.slice(0, -3), await readFile(new URL(file, DOCUMENTATION), 'utf8')))
  return {
    pages: new Map((await Promise.all(pages)).map((page) => [page.slug, page])),
    pictures: new Set(files.filter((file) => /^pictures\/[\w-]+\.png$/.test(file))),
  }
}

function readPage(name: string, content: string): DocumentationPage {
  const [, title = name, text = content] = /^# (.+)\n([\s\S]*)$/.exec(content) ?? []
  return { slug: name === 'README' ? '' : name, title: plain(title), text, sections: sectionsOf(text) }
}

/** Anchors are the ones that the renderer creates. Lines inside code blocks are no headings. */
function sectionsOf(text: string): Section[] {
  const slugs = new Map<string, number>()
  const sections: { heading: string; anchor: string | null; lines: string[] }[] = [
    { heading: '', anchor: null, lines: [] },
  ]
  let isCode = false
  for (const line of text.split('\n')) {
    if (/^ *```/.test(line)) isCode = !isCode
    const heading = isCode ? undefined : /^#{2,6} (.+)$/.exec(line)?.[1]
    if (heading === undefined) sections.at(-1)!.lines.push(line)
    else sections.push({ heading: plain(heading), anchor: ID_PREFIX + slugOf(plain(heading), slugs), lines: [] })
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: plain(lines.join(' ')) }))
}

/** Text without Markdown marks. */
const plain = (markdown: string): string =>
  markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/```[^\s]*|[`*|]|-{3,}|[│┌┐└┘├┤┬┴┼─▶◀▼▲]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
