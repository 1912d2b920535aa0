import type { App, User } from '../../../context.ts'
import type { Resolution, TextReference } from '../../../lib/markdown/markdown.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'

export interface Question {
  readonly viewer: User | null
  /** Of one kind. */
  readonly references: readonly TextReference[]
  /** That a reference is said of, if the reader may read it. */
  readonly projectOf: (reference: TextReference) => RepositorySubject | null
  /** The text's own. */
  readonly home: ProjectSubject | null
}

export type Resolver = (app: App, question: Question) => Promise<(Resolution | null)[]>

/** Before the sign of what is of another project than the text. */
export const pathBefore = ({ home }: Question, { project, namespace }: ProjectSubject) =>
  home?.project.id === project.id ? '' : pathWithNamespace(project, namespace)
