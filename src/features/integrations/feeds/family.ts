import { family } from '../../family.ts'
import { feedPage } from './pages.ts'
import { routes as web } from './web.ts'

export const feeds = family({ web: [web], addressPages: [feedPage] })
