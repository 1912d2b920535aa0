import { family } from '../../family.ts'
import { touchNamed, trackChanged, trackNew } from './on.ts'

export const mergeRequestReferences = family({ reactions: [trackNew, trackChanged, touchNamed] })
