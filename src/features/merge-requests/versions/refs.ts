export const headRef = (iid: number): string => `refs/merge-requests/${iid}/head`
export const mergeRef = (iid: number): string => `refs/merge-requests/${iid}/merge`
