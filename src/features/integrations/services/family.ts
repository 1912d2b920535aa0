import { family } from '../../family.ts'
import { externalWikiPage } from './pages.ts'
import * as routes from './routes.ts'
import { dropServiceSecrets } from './secrets.ts'

export const services = family({ routes, secretReset: dropServiceSecrets, projectPages: [externalWikiPage] })
