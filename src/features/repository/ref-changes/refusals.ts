export const MOVED = 'The ref has moved since this change'
export const PRUNED = 'The objects of this change are no longer in the repository'
