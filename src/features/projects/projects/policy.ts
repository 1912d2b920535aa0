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

/** A project as someone in particular meets it. */
export interface ProjectSubject {
  readonly project: Row<'projects'>
  readonly namespace: Row<'namespaces'>
  readonly viewer: User | null
  /** What memberships, shares, ownership and the administrator's office come to. */
  readonly level: number
  /** Visibilities that need no membership of the viewer. */
  readonly open: readonly Visibility[]
}

/** What a project can switch on for everybody who sees it, for its members, or for nobody. */
export type Feature =
  | 'repository'
  | 'issues'
  | 'merge_requests'
  | 'builds'
  | 'wiki'
  | 'snippets'
  | 'forking'
  | 'container_registry'

/** Whether a feature is switched on for them; what they may do with it is another question. */
export function hasFeature({ project, level }: Pick<ProjectSubject, 'project' | 'level'>, feature: Feature): boolean {
  const open = project[`${feature}_access_level`]
  return open === FeatureEnabled || (open !== FeatureDisabled && level >= Guest)
}

/** Archived: to be read, no longer to be worked on. */
export const isArchived = ({ project }: Pick<ProjectSubject, 'project'>): boolean => project.archived

const isOpen = ({ open, project }: ProjectSubject) => open.includes(project.visibility)

export const projectPolicy = policy<ProjectSubject>()({
  read: (s) => s.level >= Guest || isOpen(s),
  star: (s) => s.viewer !== null,
  upload: (s) => s.viewer !== null,
  readCode: (s) => s.level >= Reporter || isOpen(s),
  readStatistics: (s) => s.level >= Reporter,
  /** Attributes, shares, hooks, push rules, members, housekeeping. */
  administer: (s) => s.level >= Master,
  /** The name, the visibility, archiving and the end. */
  own: (s) => s.level >= Owner,
})
