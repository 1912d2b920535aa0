/** Objects that appear in many messages (reference: shared objects). */
import type { App, User } from '../../../context.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { absoluteImages } from './absolute-images.ts'
import { localTime } from '../../../lib/time/local-time.ts'
import { VISIBILITIES } from '../../../lib/levels.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { avatarUrl, type Surroundings } from '../../identity/users/entity.ts'
import { findUser, surroundings, withUsers } from '../../identity/users/queries.ts'
import type { Label } from '../../planning/labels/model.ts'
import { projectAvatarUrl } from '../../projects/projects/entity.ts'
import { addresses } from '../../projects/projects/load.ts'
import {
  findNamespaceById,
  findProjectById,
  pathWithNamespace,
  type Namespace,
  type Project,
} from '../../projects/projects/queries.ts'

export interface ProjectInNamespace {
  readonly project: Project
  readonly namespace: Namespace
}

/** Null if the project no longer exists. */
export async function findProjectInNamespace({ db }: App, project_id: number): Promise<ProjectInNamespace | null> {
  const project = await findProjectById(db, project_id)
  const namespace = project && (await findNamespaceById(db, project.namespace_id))
  return project && namespace ? { project, namespace } : null
}

/** `2026-11-16 10:00:00 UTC`. */
export const rowTime = (moment: string | null): string | null =>
  moment === null
    ? null
    : new Date(moment)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, ' UTC')

export const visibilityLevel = (visibility: (typeof VISIBILITIES)[number]): number =>
  VISIBILITIES.indexOf(visibility) * 10

/** The project in messages of pipelines and jobs: without the deprecated URLs. */
export function shortProject(app: App, { project, namespace }: ProjectInNamespace) {
  const at = addresses(app)
  const path_with_namespace = pathWithNamespace(project, namespace)
  const web_url = `${at.url}/${path_with_namespace}`
  return {
    id: project.id,
    name: project.name,
    description: project.description,
    web_url,
    avatar_url: projectAvatarUrl(project, at),
    git_ssh_url: at.ssh === null ? '' : `${at.ssh}${path_with_namespace}.git`,
    git_http_url: `${web_url}.git`,
    namespace: namespace.name,
    visibility_level: visibilityLevel(project.visibility),
    path_with_namespace,
    default_branch: project.empty_repo ? null : project.default_branch,
    ci_config_path: project.ci_config_path,
  }
}

export function hookProject(app: App, findProjectInNamespace: ProjectInNamespace) {
  const short = shortProject(app, findProjectInNamespace)
  return {
    ...short,
    homepage: short.web_url,
    url: short.git_ssh_url,
    ssh_url: short.git_ssh_url,
    http_url: short.git_http_url,
  }
}

export function hookRepository(app: App, findProjectInNamespace: ProjectInNamespace) {
  const { name, git_ssh_url: url, description, web_url: homepage } = shortProject(app, findProjectInNamespace)
  return { name, url, description, homepage }
}

/** The repository in messages of pushes and jobs. */
export function longRepository(app: App, findProjectInNamespace: ProjectInNamespace) {
  const { git_http_url, git_ssh_url, visibility_level } = shortProject(app, findProjectInNamespace)
  return { ...hookRepository(app, findProjectInNamespace), git_http_url, git_ssh_url, visibility_level }
}

/** Replaces mail addresses: no user's address is public. */
export const HIDDEN_EMAIL = '[REDACTED]'

const hookUser = async (app: App, user: User) => userIn(await surroundings(app), user)

const userIn = (around: Surroundings, user: User) => ({
  id: user.id,
  name: user.name,
  username: user.username,
  avatar_url: avatarUrl(user, around),
  email: HIDDEN_EMAIL,
})

export type HookUser = ReturnType<typeof userIn>

/** By id, in a fixed number of queries. Deleted users are missing. */
export async function hookUsersById(app: App, ids: readonly (number | null)[]): Promise<Map<number | null, HookUser>> {
  const around = await surroundings(app)
  const named = await withUsers(
    app.db,
    [...new Set(ids)].map((id) => ({ id })),
    { user: 'id' },
  )
  return new Map(named.flatMap(({ id, user }) => (user ? [[id, userIn(around, user)] as const] : [])))
}

/** Keeps the order. Deleted users are left out. */
export async function hookUsers(app: App, ids: readonly number[]): Promise<HookUser[]> {
  const found = await hookUsersById(app, ids)
  return ids.flatMap((id) => found.get(id) ?? [])
}

/** Null if the id is null or the user is deleted. */
export async function hookUserById(app: App, id: number | null) {
  const user = id === null ? null : await findUser(app.db, id)
  return user && (await hookUser(app, user))
}

/** The text with absolute URLs of images. */
export const hookText = <T extends string | null>(app: App, text: T, webUrl: string): T =>
  (text === null ? null : absoluteImages(text, { host: app.url, project: webUrl })) as T

/** Pushers choose these texts, so their length must be limited. */
const LONGEST_MESSAGE = 65_536
const LONGEST_LINE = 1_000

export const hookCommit = (commit: Commit, webUrl: string) => ({
  id: commit.id,
  message: commit.message.slice(0, LONGEST_MESSAGE),
  title: commit.title.slice(0, LONGEST_LINE),
  timestamp: localTime(commit.committer),
  url: pageBelow(webUrl, `commit/${commit.id}`),
  author: { name: commit.author.name.slice(0, LONGEST_LINE), email: commit.author.email.slice(0, LONGEST_LINE) },
})

export const hookLabel = (label: Label) => ({
  id: label.id,
  title: label.title,
  color: label.color,
  project_id: label.project_id,
  created_at: rowTime(label.created_at),
  updated_at: rowTime(label.updated_at),
  template: false,
  description: label.description,
  type: label.project_id === null ? 'GroupLabel' : 'ProjectLabel',
  group_id: label.group_id,
})
