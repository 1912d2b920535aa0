/** The license of a project's repository, for `license=true`. */
import type { App } from '../../../context.ts'
import { branch } from '../../../git/process/arguments.ts'
import { readObject } from '../../../git/objects/objects.ts'
import { isFile, listTree, type TreeEntry } from '../../../git/objects/trees.ts'
import { encodeSegments } from '../../../lib/text/segments.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { recogniseLicense } from '../../instance/templates/recognition.ts'
import type { SimpleProjectRecord } from '../projects/entity.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../projects/policy.ts'
import { pathWithNamespace } from '../projects/queries.ts'
import { repositoryDir } from './repository.ts'

type Described = Required<Pick<SimpleProjectRecord, 'license' | 'license_url'>>

const NONE: Described = { license: null, license_url: null }
/** A license text that the server does not recognize. */
const OTHER = { key: 'other', name: 'Other', nickname: 'LICENSE', html_url: null, source_url: null }
/** Ten times the longest known license. */
const LONGEST_LICENSE = 256 * 1024

/** Reads the current repository. Callers who may not read the files get the same answer as without a license. */
export async function describeLicense(app: App, subject: ProjectSubject): Promise<Described> {
  const { project, namespace } = subject
  if (project.empty_repo || !projectPolicy.readCode(subject) || !hasFeature(subject, 'repository')) return NONE
  const dir = repositoryDir(app, project)
  const file = licenseAmong((await listTree(dir, branch(project.default_branch))) ?? [])
  if (!file) return NONE
  const { content } = (await readObject(dir, file.id, { maxBytes: LONGEST_LICENSE })) ?? {}
  const license = content ? await recogniseLicense(content.toString()) : null
  const { key, name, nickname, html_url, source_url } = license ?? OTHER
  const path = encodeSegments(`${project.default_branch}/${file.name}`)
  return {
    license: { key, name, nickname, html_url, source_url },
    license_url: pageBelow(`${app.url}/${pathWithNamespace(project, namespace)}`, `blob/${path}`),
  }
}

/** The first file that exists wins. */
const NAMES = ['license', 'licence', 'unlicense', 'unlicence', 'copying'].flatMap((name) =>
  ['', '.md', '.txt', '.markdown', '.rst', '.html'].map((ending) => name + ending),
)

function licenseAmong(entries: readonly TreeEntry[]): TreeEntry | undefined {
  const files = new Map(entries.filter(isFile).map((entry) => [entry.name.toLowerCase(), entry]))
  return NAMES.map((name) => files.get(name)).find((file) => file !== undefined)
}
