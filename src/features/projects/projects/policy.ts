import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import {
  FeatureDisabled,
  FeatureEnabled,
  Guest,
  Master,
  Owner,
  Reporter,
  type Visibility,
} from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'
import { PROJECT_CREATION_LEVELS } from '../../identity/namespaces/model.ts'

/** A project together with the viewer's access to it. */
export interface ProjectSubject {
  readonly project: Row<'projects'>
  readonly namespace: Row<'namespaces'>
  readonly viewer: User | null
  /** The level from memberships, shares, ownership and the administrator role. */
  readonly level: number
  /** Visibilities for which the viewer needs no membership. */
  readonly open: readonly Visibility[]
}

/** Features that a project enables for everybody who sees it, for members, or for nobody. */
export type Feature =
  | 'repository'
  | 'issues'
  | 'merge_requests'
  | 'builds'
  | 'wiki'
  | 'snippets'
  | 'forking'
  | 'container_registry'

/** Whether a feature is enabled for the viewer. The viewer's permissions within the feature are a separate check. */
export function hasFeature({ project, level }: Pick<ProjectSubject, 'project' | 'level'>, feature: Feature): boolean {
  const open = project[`${feature}_access_level`]
  return open === FeatureEnabled || (open !== FeatureDisabled && level >= Guest)
}

/** The level that is required to create projects in a group. */
export const projectCreationLevel = (viewer: User, group: Pick<Row<'namespaces'>, 'project_creation_level'>): number =>
  viewer.admin ? Owner : PROJECT_CREATION_LEVELS[group.project_creation_level]

/** An archived project is read-only. */
export const isArchived = ({ project }: Pick<ProjectSubject, 'project'>): boolean => project.archived

const isOpen = ({ open, project }: ProjectSubject) => open.includes(project.visibility)

export const projectPolicy = policy<ProjectSubject>()({
  read: (s) => s.level >= Guest || isOpen(s),
  star: (s) => s.viewer !== null,
  upload: (s) => s.viewer !== null,
  readCode: (s) => s.level >= Reporter || isOpen(s),
  readStatistics: (s) => s.level >= Reporter,
  /** Attributes, shares, webhooks, push rules, members, housekeeping. */
  administer: (s) => s.level >= Master,
  /** The name, the visibility, archiving and deletion. */
  own: (s) => s.level >= Owner,
})
