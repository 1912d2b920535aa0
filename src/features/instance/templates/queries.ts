import { readFile, readdir } from 'node:fs/promises'
import { parse } from 'node:path'
import { z } from 'zod'
import { publicPolicy, resource } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'

export interface Template {
  readonly name: string
  readonly content: string
}

export interface License {
  readonly key: string
  readonly name: string
  readonly nickname: string | null
  readonly popular: boolean
  readonly html_url: string
  readonly source_url: string | null
  readonly description: string
  readonly conditions: readonly string[]
  readonly permissions: readonly string[]
  readonly limitations: readonly string[]
  readonly content: string
}

export type TemplateKind = 'gitignores' | 'gitlab_ci_ymls' | 'dockerfiles'

const contentOf = (path: string) => readFile(new URL(`contents/${path}`, import.meta.url), 'utf8')

/** Templates are read on first use, to keep the start fast; a failed read is retried. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let known: Promise<T> | undefined
  return () =>
    (known ??= read().catch((error: unknown) => {
      known = undefined
      throw error
    }))
}

const byName = (a: Template, b: Template) => (a.name < b.name ? -1 : 1)

/** One file per template, so that editors and the formatter recognise the format. */
async function readFolder(folder: string, prefix = ''): Promise<Template[]> {
  const entries = await readdir(new URL(`contents/${folder}`, import.meta.url), { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => entry.name)
  const templates = files.map(async (file) => ({
    name: prefix + parse(file).name,
    content: await contentOf(`${folder}/${file}`),
  }))
  return (await Promise.all(templates)).sort(byName)
}

/**
 * Gitignores are many and short: more than a hundred in one file, each under its `### Name`, are easier to read and
 * review.
 */
async function readSections(path: string): Promise<Template[]> {
  const sections = (await contentOf(path)).split(/^### /m).slice(1)
  const templates = sections.map((section) => {
    const end = section.indexOf('\n')
    return { name: section.slice(0, end), content: `${section.slice(end).trim()}\n` }
  })
  return templates.sort(byName)
}

const inOrder = (...categories: Promise<Template[]>[]) => Promise.all(categories).then((lists) => lists.flat())

/** Sorted by name inside each category; the categories keep this order. */
const shipped: Record<TemplateKind, () => Promise<Template[]>> = {
  gitignores: once(() => inOrder(readSections('gitignores/languages.txt'), readSections('gitignores/global.txt'))),
  gitlab_ci_ymls: once(() =>
    inOrder(
      readFolder('gitlab-ci-ymls'),
      readFolder('gitlab-ci-ymls/Pages', 'Pages/'),
      readFolder('gitlab-ci-ymls/Auto-deploy'),
    ),
  ),
  dockerfiles: once(() => readFolder('dockerfiles')),
}

export const listTemplates = (kind: TemplateKind): Promise<readonly Template[]> => shipped[kind]()

/** Names are compared and never used as paths, so no name leads out of the folder. */
export async function findTemplate(kind: TemplateKind, name: string): Promise<Template | undefined> {
  return (await shipped[kind]()).find((template) => template.name === name)
}

const licenses = once(async (): Promise<License[]> => {
  const facts = JSON.parse(await contentOf('licenses/licenses.json')) as Omit<License, 'content'>[]
  return Promise.all(facts.map(async (fact) => ({ ...fact, content: await contentOf(`licenses/${fact.key}.txt`) })))
})

export async function listLicenses({ popular = false } = {}): Promise<readonly License[]> {
  return (await licenses()).filter((license) => license.popular || !popular)
}

export async function findLicense(key: string): Promise<License | undefined> {
  return (await licenses()).find((license) => license.key === key)
}

export const license = resource({
  name: 'License',
  params: z.object({ key: text }),
  policy: publicPolicy,
  find: (_app, { key }) => findLicense(key),
})

export const templateOf = (kind: TemplateKind, name: string) =>
  resource({
    name,
    params: z.object({ name: text }),
    policy: publicPolicy,
    find: (_app, { name }) => findTemplate(kind, name),
  })
