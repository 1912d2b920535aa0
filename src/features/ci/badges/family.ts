import { family } from '../../family.ts'
import { badgePage } from './pages.ts'

export const badges = family({ projectPages: [badgePage] })
