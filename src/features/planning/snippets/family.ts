import { family } from '../../family.ts'
import { releaseSnippets } from './user-removal.ts'
import { snippetPage } from './pages.ts'
import * as projectRoutes from './project-routes.ts'
import * as routes from './routes.ts'
import { routes as web } from './web.ts'

export const snippets = family({ routes, onUserRemoved: releaseSnippets, web: [web], projectPages: [snippetPage] })
export const projectSnippets = family({ routes: projectRoutes })
