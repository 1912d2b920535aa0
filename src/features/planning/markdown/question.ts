import type { App, User } from '../../../context.ts'
import type { Resolution, TextReference } from '../../../lib/markdown/markdown.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'

export interface Question {
  readonly viewer: User | null
  /** All of the same kind. */
  readonly references: readonly TextReference[]
  /** The project of a reference, if the viewer may read it. */
  readonly projectOf: (reference: TextReference) => RepositorySubject | null
  /** The project of the text. */
  readonly home: ProjectSubject | null
}

export type Resolver = (app: App, question: Question) => Promise<(Resolution | null)[]>

/** The path prefix of a reference to another project than that of the text. */
export const pathBefore = ({ home }: Question, { project, namespace }: ProjectSubject) =>
  home?.project.id === project.id ? '' : pathWithNamespace(project, namespace)
