import { policy } from '../../../api/endpoint.ts'
import type { User } from '../../../context.ts'
import { Guest, Master, Reporter, type Visibility } from '../../../lib/levels.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import type { Snippet } from './model.ts'

/** A snippet under `/snippets/:id`, personal or of a project. */
export interface ViewedSnippet {
  readonly snippet: Snippet
  readonly viewer: User | null
  /** Visibilities that non-members may see. */
  readonly open: readonly Visibility[]
  /** The project of the snippet. Null: a personal snippet. */
  readonly home: ProjectSubject | null
}

export interface ProjectSnippet extends ProjectSubject {
  readonly snippet: Snippet
}

const isAuthor = ({ snippet, viewer }: Pick<ViewedSnippet, 'snippet' | 'viewer'>) => viewer?.id === snippet.author_id
const isAdministrator = ({ viewer }: Pick<ViewedSnippet, 'viewer'>) => viewer?.state === 'active' && viewer.admin
const isOn = (s: ProjectSubject) => hasFeature(s, 'snippets')

/** Snippets of a project. While they are disabled, none is visible and none can be created. */
export const snippetsPolicy = policy<ProjectSubject>()({
  read: projectPolicy.read,
  createSnippet: (s) => isOn(s) && s.level >= Reporter && !s.project.archived,
})

export const projectSnippetPolicy = policy<ProjectSnippet>()({
  read: (s: ProjectSnippet) => isOn(s) && (s.level >= Guest || s.open.includes(s.snippet.visibility) || isAuthor(s)),
  /** Every signed-in user who can read it. */
  participate: (s) => s.viewer !== null && !s.project.archived,
  change: (s) => !s.project.archived && (s.level >= Master || isAuthor(s)),
})

export const snippetPolicy = policy<ViewedSnippet>()({
  read(s: ViewedSnippet) {
    const { snippet, open, home } = s
    if (home) return projectPolicy.read(home) && projectSnippetPolicy.read({ ...home, snippet })
    return open.includes(snippet.visibility) || isAuthor(s) || isAdministrator(s)
  },
})

/** Users who may not change the snippet get 404. */
export const changeableSnippetPolicy = policy<ViewedSnippet>()({
  read(s: ViewedSnippet) {
    const { snippet, home } = s
    const may = home ? projectSnippetPolicy.change({ ...home, snippet }) : isAuthor(s) || isAdministrator(s)
    return may && snippetPolicy.read(s)
  },
})
