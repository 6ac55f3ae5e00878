export const POINTS = 24;
export const MOST_CHEQUERS = 15;
