/** Style sheets are the bundler's business: importing one brings nothing to use. */
declare module "*.css";
