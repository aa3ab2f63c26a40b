#include <cstdio>
int main() { std::puts("muster"); }
