import { family } from '../../family.ts'
import { touchReferenced, trackChanged, trackNew } from './on.ts'

export const mergeRequestReferences = family({ reactions: [trackNew, trackChanged, touchReferenced] })
